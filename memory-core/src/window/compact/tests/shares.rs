//! What summaries, forgotten messages and large turns do to a plan.

use super::*;

fn reason(list: &[(Said, u64)], config: &BufferConfig) -> Option<FoldReason> {
    plan_fold(&rows(list), config, Some(1_000), NONE).map(|plan| plan.reason)
}

#[test]
fn a_full_window_merges_summaries_only_above_their_share() {
    let config = BufferConfig::default();
    for (each, outside, inside) in [
        (50, FoldReason::Tokens, FoldReason::Turn),
        (125, FoldReason::Tokens, FoldReason::Turn),
        (126, FoldReason::Summaries, FoldReason::Summaries),
    ] {
        let summaries = [(Said::Summary(10), each)].repeat(2);
        assert_eq!(reason(&[summaries.clone(), turns(8, 50)].concat(), &config), Some(outside), "{each}");
        let turn = [vec![(Said::User, 50)], summaries, STEP.repeat(9)].concat();
        assert_eq!(reason(&turn, &config), Some(inside), "{each} inside of a turn");
    }
}

#[test]
fn summaries_that_cannot_be_merged_hold_up_no_fold() {
    let config = BufferConfig::default().with_max_summaries(1, 2);
    let (summary, rule) = ((Said::Summary(10), 50), (Said::System, 5));
    // Those apart from each other, and those that are too short together.
    for summaries in [vec![summary, rule, summary], [(Said::Summary(10), 20)].repeat(2)] {
        let list = [summaries, turns(8, 50)].concat();
        assert_eq!(reason(&list, &config), Some(FoldReason::Tokens), "{list:?}");
    }
}

#[test]
fn a_conversation_with_an_instruction_in_every_turn_is_folded() {
    let turn = [(Said::User, 50), (Said::System, 5), (Said::Assistant, 50)];
    let (by_tokens, by_count) = (BufferConfig::default(), BufferConfig::default().with_capacity_messages(10));
    for (config, limit, most, tokens) in [(by_tokens, Some(1_000), 24, 799), (by_count, None, 10, 2_000)] {
        let mut window = rows(&turn.repeat(12));
        while let Some(plan) = plan_fold(&window, &config, limit, NONE) {
            let at = window.iter().position(|row| row.id == plan.rows[0].id).unwrap();
            window.splice(at..at + plan.rows.len(), [summary_of(&plan)]);
        }
        let messages = window.iter().filter(|row| row.covers.is_none() && Standing::of(row) != Standing::Instruction);
        assert!(messages.count() <= most, "{limit:?}");
        assert!(window.iter().map(|row| row.tokens).sum::<u64>() <= tokens, "{limit:?}");
        assert_eq!(window.iter().filter(|row| Standing::of(row) == Standing::Instruction).count(), 12);
    }
    // A fold ends so only where none may end before a person's message.
    let parted = [vec![(Said::User, 50), (Said::System, 5), (Said::Assistant, 50)], turns(8, 50)].concat();
    let plan = plan_fold(&rows(&parted), &by_tokens, Some(1_000), NONE).unwrap();
    assert_eq!(plan.rows.first().map(|row| row.seq), Some(Seq(4)));
}

#[test]
fn a_summary_is_inside_of_a_turn_if_more_of_the_turn_follows() {
    let config = BufferConfig::default().with_max_summaries(1, 2);
    let (user, reply) = ((Said::User, 50), (Said::Assistant, 50));
    let two = [(Said::Summary(10), 50)].repeat(2);
    for (list, merges) in [
        ([two.clone(), vec![user, reply]].concat(), true),
        ([vec![user], two.clone(), vec![reply]].concat(), false),
        ([vec![user, reply], two.clone()].concat(), true),
        ([vec![user, reply], two.clone(), vec![user, reply]].concat(), true),
        ([vec![user, reply], two, vec![reply, user]].concat(), false),
    ] {
        let found = plan_fold(&rows(&list), &config, None, NONE).map(|plan| plan.reason);
        assert_eq!(found, merges.then_some(FoldReason::Summaries), "{list:?}");
    }
}

#[test]
fn the_largest_of_the_turns_kept_sets_an_adaptive_threshold() {
    let config = BufferConfig::default().with_adaptive_threshold();
    // The turn of 300 tokens lets folding begin at 700 as long as it is one of the newest four.
    let with_large = |before: usize, after: usize| [turns(before, 45), turns(1, 150), turns(after, 45)].concat();
    assert_eq!(reason(&with_large(5, 0), &config), Some(FoldReason::Tokens));
    assert_eq!(reason(&with_large(2, 3), &config), Some(FoldReason::Tokens));
    assert_eq!(reason(&with_large(1, 4), &config), None);
}

#[test]
fn what_is_forgotten_or_replaced_is_not_in_the_window() {
    let mut gone = rows(&turns(300, 5));
    for row in &mut gone {
        row.message = None;
    }
    assert_eq!(plan_fold(&gone, &policy(), Some(1_000), NONE), None);
}

#[test]
fn a_window_without_tokens_is_never_too_full() {
    let config = BufferConfig::default().with_folding(Folding::Archive);
    assert_eq!(plan_fold(&rows(&turns(3, 0)), &config, Some(0), NONE), None);
    assert!(plan_fold(&rows(&turns(3, 1)), &config, Some(0), NONE).is_some());
}

#[test]
fn the_newest_turn_is_folded_inside_by_the_room_that_contexts_leave_to_it() {
    let config = BufferConfig::default().with_summary_tokens(100);
    let long = rows(&[turns(8, 50), vec![(Said::User, 50)], STEP.repeat(20)].concat());
    assert_eq!(plan_fold(&long, &config, Some(30_000), NONE), None);
    let plan = plan_turn(&long, &config, 1_000).unwrap();
    assert_eq!((plan.reason, plan.span.first), (FoldReason::Turn, Seq(18)));
    let left = 2_050 - plan.tokens + plan.max_tokens;
    assert!(left <= 500 && left > 350, "{left}");
    assert_eq!(plan_turn(&long, &config, 3_000), None, "there is room for it");
    assert_eq!(plan_turn(&long, &config, 50), None, "what the person said does not fit");
    // Summaries inside of it are merged by their share; other turns stay as they are.
    let summaries = [vec![(Said::User, 50)], [(Said::Summary(10), 60)].repeat(8), STEP.repeat(5)].concat();
    let plan = plan_turn(&rows(&[summaries.clone(), summaries].concat()), &config, 1_000).unwrap();
    assert_eq!((plan.reason, plan.span.first, plan.rows.len()), (FoldReason::Summaries, Seq(93), 8));
    assert_eq!(plan_turn(&rows(&STEP.repeat(20)), &config, 1_000), None, "no person speaks");
}

#[test]
fn the_newest_turn_is_folded_at_its_share_and_its_summaries_are_merged_above_theirs() {
    let reason = |list: &[Vec<(Said, u64)>]| {
        plan_turn(&rows(&list.concat()), &BufferConfig::default(), 1_000).map(|plan| plan.reason)
    };
    assert_eq!(reason(&[vec![(Said::User, 99)], STEP.repeat(7)]), None);
    assert_eq!(reason(&[vec![(Said::User, 100)], STEP.repeat(7)]), Some(FoldReason::Turn));
    for (each, expected) in [(125, FoldReason::Turn), (126, FoldReason::Summaries)] {
        let turn = [vec![(Said::User, 50)], [(Said::Summary(10), each)].repeat(2), STEP.repeat(5)];
        assert_eq!(reason(&turn), Some(expected), "{each}");
    }
}

#[test]
fn a_plan_names_its_rows_and_gives_the_summariser_those_that_say_something() {
    let mut all = rows(&turns(8, 50));
    let first = all[0].seq;
    all[0].covers = Some(SeqRange { first, last: first });
    all[0].message = Some(Message::of_blocks(Role::Assistant, Vec::new(), Timestamp(0)).into());
    let plan = FoldPlan {
        reason: FoldReason::Messages,
        span: SeqRange { first, last: all[2].seq },
        rows: all[..3].to_vec(),
        tokens: 150,
        max_tokens: 32,
    };
    assert_eq!(plan.ids(), [all[0].id, all[1].id, all[2].id]);
    let request = plan.request(vec!["1974".to_owned()]);
    assert_eq!((request.messages, request.max_tokens, request.keep), (all[1..3].to_vec(), 32, vec!["1974".to_owned()]));
}
