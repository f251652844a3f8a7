//! Random vectors in clusters, as embeddings are.

use super::Random;

/// Clusters of vectors: near ones within a cluster, far ones between clusters.
#[derive(Clone, Debug)]
pub struct Cluster {
    centres: Vec<Vec<f32>>,
    dimension: usize,
}

impl Cluster {
    /// Returns `count` clusters of vectors with `dimension` numbers.
    pub fn new(random: &mut Random, count: usize, dimension: usize) -> Self {
        Self { centres: (0..count).map(|_| unit_vector(random, dimension)).collect(), dimension }
    }

    /// Returns a vector near the centre of a random cluster, of any length.
    pub fn draw(&self, random: &mut Random) -> Vec<f32> {
        let centre = random.pick(&self.centres);
        let scale = random.pick(&[0.01f32, 1.0, 1.0, 1.0, 250.0]);
        let noise = unit_vector(random, self.dimension);
        centre.iter().zip(noise).map(|(centre, noise)| (centre + 0.4 * noise) * scale).collect()
    }
}

/// Returns a vector of length 1 in a random direction.
pub fn unit_vector(random: &mut Random, dimension: usize) -> Vec<f32> {
    let raw: Vec<f64> = (0..dimension.max(1)).map(|_| random.unit() * 2.0 - 1.0).collect();
    let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    raw.iter().map(|x| (x / length) as f32).collect()
}
