//! Indexes that list the wrong items.

use async_trait::async_trait;
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::text::TextStore as _;
use memory_core::store::vectors::VectorStore as _;
use memory_core::{ItemId, Result, Scope, Version};

use super::{texts, vectors};

type Page = Vec<(ItemId, Version)>;

macro_rules! both {
    ($broken:ident, $self:ident, $inner:ident, $scope:ident, $after:ident, $limit:ident: $page:expr) => {
        #[async_trait]
        impl texts::Break for $broken {
            async fn scan(&$self, $inner: &MemText, $scope: &Scope, $after: Option<&ItemId>, $limit: usize) -> Result<Page> {
                $page
            }
        }

        #[async_trait]
        impl vectors::Break for $broken {
            async fn scan(
                &$self,
                $inner: &MemVectors,
                $scope: &Scope,
                $after: Option<&ItemId>,
                $limit: usize,
            ) -> Result<Page> {
                $page
            }
        }
    };
}

/// Leaves the last item of a full page out, as a cursor does that points behind it.
#[derive(Clone, Debug)]
struct SkipsBetweenPages;

both!(SkipsBetweenPages, self, inner, scope, after, limit: {
    let mut page = inner.scan(scope, after, limit.saturating_add(1)).await?;
    if page.len() > limit && limit > 1 {
        page.remove(limit - 1);
    }
    page.truncate(limit);
    Ok(page)
});

#[tokio::test]
async fn a_list_that_leaves_an_item_out_is_caught() {
    let by = ["a_scan_lists_each_item_once_with_its_version", "a_scan_goes_on_behind_the_item_named_stored_or_not"];
    texts::caught(SkipsBetweenPages, &by).await;
    vectors::caught(SkipsBetweenPages, &by).await;
}

/// Begins the next page with the last item of the one before.
#[derive(Clone, Debug)]
struct ListsTwice;

both!(ListsTwice, self, inner, scope, after, limit: {
    let rest = inner.scan(scope, after, limit).await?;
    let again = match after {
        Some(after) => inner.versions(scope, std::slice::from_ref(after)).await?,
        None => Vec::new(),
    };
    Ok(again.into_iter().chain(rest).take(limit.max(2)).collect())
});

#[tokio::test]
async fn a_list_that_names_an_item_twice_is_caught() {
    let by = ["a_scan_lists_each_item_once_with_its_version"];
    texts::caught(ListsTwice, &by).await;
    vectors::caught(ListsTwice, &by).await;
}

/// Needs the item that is named, and ends the list where it is gone.
#[derive(Clone, Debug)]
struct NeedsTheItemNamed;

both!(NeedsTheItemNamed, self, inner, scope, after, limit: {
    match after {
        Some(after) if inner.versions(scope, std::slice::from_ref(after)).await?.is_empty() => Ok(Vec::new()),
        _ => inner.scan(scope, after, limit).await,
    }
});

#[tokio::test]
async fn a_list_that_ends_at_an_item_that_is_gone_is_caught() {
    let by = ["a_scan_goes_on_behind_the_item_named_stored_or_not"];
    texts::caught(NeedsTheItemNamed, &by).await;
    vectors::caught(NeedsTheItemNamed, &by).await;
}

/// Tells the first version of everything.
#[derive(Clone, Debug)]
struct TellsNoVersion;

both!(TellsNoVersion, self, inner, scope, after, limit: {
    let page = inner.scan(scope, after, limit).await?;
    Ok(page.into_iter().map(|(item, version)| (item, Version { revision: 1, ..version })).collect())
});

#[tokio::test]
async fn a_list_of_other_versions_is_caught() {
    let by = ["a_scan_lists_each_item_once_with_its_version"];
    texts::caught(TellsNoVersion, &by).await;
    vectors::caught(TellsNoVersion, &by).await;
}
