//! Irregular forms, which no stemmer maps to their base, as data per language.

use foldhash::HashMap;

/// English verbs and nouns, each with its irregular forms. It lacks `be`, `have` and `do`, which say too little, and forms that
/// are as often another word (`rose`, `lives`, `ground`).
pub(super) const ENGLISH: &str = "\
    arise:arose arisen awake:awoke awoken beat:beaten become:became begin:began begun bend:bent bite:bitten \
    bleed:bled blow:blew blown break:broke broken breed:bred bring:brought build:built burn:burnt buy:bought \
    catch:caught choose:chose chosen cling:clung come:came creep:crept deal:dealt dig:dug draw:drew drawn \
    dream:dreamt drink:drank drunk drive:drove driven dwell:dwelt eat:ate eaten fall:fell fallen feed:fed feel:felt \
    fight:fought find:found flee:fled fling:flung fly:flew flown forbid:forbade forbidden forget:forgot forgotten \
    forgive:forgave forgiven freeze:froze frozen get:got gotten give:gave given go:went gone grow:grew grown \
    hang:hung hear:heard hide:hid hidden hold:held keep:kept kneel:knelt know:knew known lay:laid lead:led \
    lean:leant leap:leapt learn:learnt leave:left lend:lent light:lit lose:lost make:made mean:meant meet:met \
    mistake:mistook mistaken overcome:overcame pay:paid prove:proven ride:rode ridden ring:rang rise:risen run:ran \
    say:said see:saw seen seek:sought sell:sold send:sent sew:sewn shake:shook shaken shine:shone show:shown \
    shrink:shrank shrunk sing:sang sung sink:sank sunk sit:sat sleep:slept slide:slid smell:smelt sow:sown \
    speak:spoke spoken spell:spelt spend:spent spill:spilt spin:spun spoil:spoilt spring:sprang sprung stand:stood \
    steal:stole stolen stick:stuck sting:stung stink:stank stunk strike:struck stricken strive:strove swear:swore \
    sworn sweep:swept swell:swollen swim:swam swum swing:swung take:took taken teach:taught tear:tore torn tell:told \
    think:thought thoughts throw:threw thrown tread:trod trodden understand:understood undertake:undertook \
    undertaken wake:woke woken wear:wore worn weave:wove woven weep:wept win:won withdraw:withdrew withdrawn \
    write:wrote written child:children foot:feet goose:geese half:halves knife:knives loaf:loaves man:men mouse:mice \
    person:people shelf:shelves thief:thieves tooth:teeth wife:wives wolf:wolves woman:women";

/// Returns a table from each form to its base, of a list `base:form form base:form`.
pub(super) fn table(list: &'static str) -> HashMap<&'static str, &'static str> {
    let mut base = "";
    let form = |word: &'static str| match word.split_once(':') {
        Some((head, form)) => {
            base = head;
            (form, base)
        }
        None => (word, base),
    };
    list.split_whitespace().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_one_base_that_is_no_form() {
        let table = table(ENGLISH);
        assert_eq!(table.len(), ENGLISH.split([' ', ':']).count() - ENGLISH.matches(':').count());
        assert_eq!((table["bought"], table["woken"], table["children"]), ("buy", "wake", "child"));
        assert!(table.values().all(|base| !table.contains_key(base)));
    }
}
