//! Words that carry no content, as data per language.

use super::Language;

/// The words of one language that are dropped, each list separated by blanks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    /// Dropped from documents and queries.
    pub(super) stop: &'static str,
    /// Dropped from queries only: question words, auxiliaries, pronouns, and words for times relative to the question.
    pub(super) question: &'static str,
    /// Articles and the like, which do not change what a statement means.
    pub(super) filler: &'static str,
    /// Words that turn a statement into its opposite.
    pub(super) negation: &'static str,
    /// Pronouns of the speaker.
    pub(super) first_person: &'static str,
    /// Pronouns of the person addressed.
    pub(super) second_person: &'static str,
    /// Names for the model in a conversation.
    pub(super) model: &'static str,
    /// Irregular forms by their base: see [`super::irregular`].
    pub(super) irregular: &'static str,
    /// The names of the months, January first.
    pub(super) months: &'static str,
}

/// Returns the words of `language`; empty lists if none have been made yet.
pub(super) fn of(language: Language) -> Words {
    match language {
        Language::English => ENGLISH,
        Language::German => GERMAN,
        Language::French => FRENCH,
        Language::Spanish => SPANISH,
        Language::Italian => ITALIAN,
        Language::Portuguese => PORTUGUESE,
        Language::Dutch => DUTCH,
        _ => Words::default(),
    }
}

/// The stop words are Lucene's 33.
const ENGLISH: Words = Words {
    stop: "a an and are as at be but by for if in into is it no not of on or such that the their then there these they \
           this to was will with",
    question: "what when where who which how why did does do has have had would could should can many much her his he \
               she i you we my your me ago past recent recently lately passed",
    filler: "a an the is are am be and of in on at to for as that this it s",
    negation: "no not never none nobody nothing neither nor without cannot hardly t",
    first_person: "i me my mine myself we us our ours ourselves",
    second_person: "you your yours yourself yourselves",
    model: "assistant chatbot bot",
    irregular: super::irregular::ENGLISH,
    months: "january february march april may june july august september october november december",
};

const GERMAN: Words = Words {
    stop: "aber als am an auch auf aus bei das dass dem den der des die ein eine einem einen einer eines er es für im \
           in ist mit nach nicht noch nur oder sich sie sind so über um und vom von vor war wie wird zu zum zur",
    question: "was wann wo wohin woher wer wen wem wessen welche welcher welches welchem welchen wieso warum weshalb \
               hat habe haben hast hatte hatten kann können konnte soll sollte würde viel viele ihr ihre sein seine \
               ich du wir mein meine dein deine mich mir dich dir unser unsere",
    filler: "der die das den dem des ein eine einen einem einer eines ist sind und",
    negation: "nicht nie niemals kein keine keinen keinem keiner keines ohne niemand nichts weder",
    first_person: "ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unserer",
    second_person: "du dich dir dein deine deinen deinem deiner deines euch euer eure",
    model: "assistent assistenten assistentin chatbot bot",
    irregular: "",
    months: "januar februar märz april mai juni juli august september oktober november dezember",
};

const FRENCH: Words = Words {
    stop: "à au aux avec c ce ces cette d dans de des du elle en est et il ils j l la le les leur lui m mais n ne on \
           ou par pas pour qu que qui s sa se ses son sont sur t un une y",
    question: "quoi quand où comment pourquoi quel quelle quels quelles lequel laquelle combien a ai as avons avez ont \
               avait était fait faire peut peux je tu nous vous mon ma mes ton ta tes notre votre moi toi",
    filler: "le la les l un une des du de d est sont et",
    negation: "ne n pas jamais sans aucun aucune rien personne ni",
    first_person: "je j me m moi mon ma mes nous notre nos",
    second_person: "tu te t toi ton ta tes vous votre vos",
    model: "assistant assistante chatbot",
    irregular: "",
    months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
};

const SPANISH: Words = Words {
    stop: "a al como con de del el en es esta está están este lo la las le les los más me mi muy no o para pero por que se si sin \
           son su sus un una uno y ya",
    question: "qué cuál cuáles cuándo cuánto cuántos cuánta cuántas dónde adónde quién quiénes cómo ha han he hemos \
               había hizo hace puede puedo yo tú él ella nosotros ustedes mis tu tus nuestro nuestra",
    filler: "el la los las un una unos unas de es son y",
    negation: "no nunca jamás sin nadie nada ningún ninguna ni",
    first_person: "yo me mí mi mis mío mía míos mías nosotros nosotras nos nuestro nuestra nuestros nuestras",
    second_person: "tú te ti tu tus tuyo tuya usted ustedes vosotros vosotras",
    model: "asistente chatbot",
    irregular: "",
    months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
};

const ITALIAN: Words = Words {
    stop: "a ad ai al alla alle c che come con d da dal dalla dei del della delle di e è ed gli i il in l la le lo ma \
           nel nella non o per più s se si sono su sul sulla un una uno",
    question: "cosa quando dove chi quale quali quanto quanti quanta quante perché ha ho hai hanno aveva fatto può \
               puoi io tu lui lei noi voi mio mia miei mie tuo tua suo sua mi ti",
    filler: "il lo la i gli le l un uno una di è sono e",
    negation: "non mai senza nessuno nessuna niente nulla né",
    first_person: "io me mi mio mia miei mie noi nostro nostra nostri nostre",
    second_person: "tu te ti tuo tua tuoi tue voi vostro vostra",
    model: "assistente chatbot",
    irregular: "",
    months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
};

const PORTUGUESE: Words = Words {
    stop: "a ao aos as à às com como da das de do dos e é em mais mas na nas no nos não o os ou para pela pelo por que \
           se sem ser são sua um uma",
    question: "quando onde quem qual quais quanto quantos quanta quantas porque porquê tem têm tinha fez faz pode posso \
               eu tu ele ela nós você vocês meu minha teu tua seu me te",
    filler: "o a os as um uma uns umas de é são e",
    negation: "não nunca jamais sem ninguém nada nenhum nenhuma nem",
    first_person: "eu me mim meu minha meus minhas nós nosso nossa nossos nossas",
    second_person: "tu te ti teu tua teus tuas você vocês",
    model: "assistente chatbot",
    irregular: "",
    months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
};

const DUTCH: Words = Words {
    stop: "aan als bij dat de den der die dit door een en er het in is maar met naar niet of om ook op over te tot uit \
           van voor was wat zijn",
    question: "wanneer waar wie welke welk hoe waarom heeft heb hebben had hadden kan kunnen kon zou veel ik jij je u \
               hij zij ze wij we mijn jouw uw haar hem mij",
    filler: "de het een is zijn en",
    negation: "niet nooit geen zonder niemand niets noch",
    first_person: "ik me mij mijn wij we ons onze",
    second_person: "jij je jou jouw u uw jullie",
    model: "assistent chatbot bot",
    irregular: "",
    months: "januari februari maart april mei juni juli augustus september oktober november december",
};
