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
    /// Verbs with which the model is asked what it said.
    pub(super) saying: &'static str,
    /// Verbs that make a request of a question when the pronoun of the person addressed stands behind them.
    pub(super) modal: &'static str,
    /// Words before which a name does not stand, but a noun does.
    pub(super) article: &'static str,
    /// Words behind which the name of a month is a time.
    pub(super) dating: &'static str,
    /// Words of greetings, thanks and consent: a turn of these alone is about nothing that could be recalled.
    pub(super) phatic: &'static str,
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
        Language::Turkish => TURKISH,
        _ => Words::default(),
    }
}

/// Returns the names of the months in `language`, January first.
pub(crate) fn months(language: Language) -> impl Iterator<Item = &'static str> {
    of(language).months.split_whitespace()
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
    saying: "say said tell told suggest suggested recommend recommended advise advised advice mention mentioned explain \
             explained propose proposed give gave given list listed describe described show showed write wrote \
             written answer answered name named call called suggestion recommendation tip tips think thought",
    modal: "can could will would may might please thank",
    article: "the a an my your his her its our their this that these those every each no some any which",
    dating: "in since until till last next this during by of on from before after",
    phatic: "hello hi hey yo howdy greetings thanks thank thx ty cheers please welcome sorry apologies excuse ok okay k kk yes yeah yep \
             yup ya nope nah sure fine great good better best nice cool awesome perfect lovely wonderful excellent amazing \
             brilliant super neat sweet fantastic alright right correct exactly indeed true agreed agree fair enough absolutely \
             definitely totally course understood understand got get gotcha see go going ahead come on continue proceed \
             carry keep next more again further else stop wait moment minute second sec hold hang just so well oh ah aha hm \
             hmm huh haha hahaha lol wow oops hooray yay bye goodbye night morning evening afternoon day weekend later soon \
             tomorrow think thought mean know say said tell explain elaborate help let lets make makes sense sound sounds \
             really very much lot bit thing things anything something nothing everything idea question interesting funny \
             glad ready back here now then up about doing worry problem mind never maybe perhaps probably guess hope luck \
             take care talk chat speak done that's you're i'm don't too also way new going everyone anyone there again your \
             joke shall should am its don im whatever anyway wait one pleasure appreciate appreciated kind helpful happy \
             how're bored test testing like love bro man dude mate friend dear please lmao omg",
    model: "assistant chatbot bot",
    irregular: super::irregular::ENGLISH,
    months: "january february march april may june july august september october november december",
};

const GERMAN: Words = Words {
    stop: "aber als am an auch auf aus bei das dass dem den der des die ein eine einem einen einer eines er es für im \
           in ist mit nach nicht noch nur oder sich sie sind so über um und vom von vor war wie wird zu zum zur",
    question: "womit worauf woran wofür wovon worüber bitte sagen sag was wann wo wohin woher wer wen wem wessen welche welcher welches welchem welchen wieso warum weshalb \
               hat habe haben hast hatte hatten kann können konnte soll sollte würde viel viele ihr ihre sein seine \
               ich du wir mein meine dein deine mich mir dich dir unser unsere",
    filler: "der die das den dem des ein eine einen einem einer eines ist sind und",
    negation: "nicht nie niemals kein keine keinen keinem keiner keines ohne niemand nichts weder",
    first_person: "ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unserer",
    second_person: "du dich dir dein deine deinen deinem deiner deines euch euer eure",
    saying: "gesagt geraten empfohlen vorgeschlagen erwähnt erklärt genannt geschrieben gegeben gezeigt geantwortet rat \
             tipp tipps vorschlag empfehlung sagtest meintest empfiehlst rätst",
    modal: "kannst könntest würdest magst",
    article: "ein eine einen einem einer dieser diese dieses diesen diesem jeder jede jedes kein keine",
    dating: "im in seit bis letzten nächsten vor nach ab anfang ende mitte",
    phatic: "hallo hi hey servus moin grüß gott guten gute guter tag morgen abend nacht danke dank bitte gerne gern ok okay ja nein \
             jo doch klar genau richtig stimmt super toll prima gut sehr schön perfekt alles weiter mach mehr warte moment kurz \
             mal tschüss bis bald später verstehe verstanden aha hm hmm haha sag erzähl denkst meinst hilfe helfen okay passt \
             wunderbar cool nice also na los geht",
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
    saying: "dit recommandé conseillé suggéré proposé mentionné expliqué donné écrit montré répondu conseil conseils \
             recommandes conseilles",
    modal: "peux pourrais pouvez pourriez peut",
    article: "un une ce cette ces mon ma mes ton ta tes son sa ses chaque",
    dating: "en depuis de avant après mi fin début",
    phatic: "bonjour bonsoir salut coucou merci beaucoup s'il plaît ok oui non d'accord accord bien sûr parfait super génial très bon \
             bonne bonnes nuit soirée journée continue vas-y vas encore plus attends moment au revoir bientôt compris je vois hm ah \
             haha penses dis aide aider ça va",
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
    saying: "dijiste recomendaste aconsejaste sugeriste propusiste mencionaste explicaste diste escribiste dicho \
             recomendado aconsejado sugerido consejo recomiendas",
    modal: "puedes podrías puede podría",
    article: "un una este esta ese esa mi tu su cada",
    dating: "en desde de hasta antes después",
    phatic: "hola buenas buenos días tardes noches gracias muchas favor ok vale sí no claro perfecto genial bien muy bueno buena \
             sigue continúa más espera momento adiós hasta luego pronto entendido entiendo ya ah jaja piensas dime ayuda ayudar \
             tal",
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
    saying: "detto consigliato suggerito proposto spiegato dato scritto nominato consiglio consigli",
    modal: "puoi potresti può potrebbe",
    article: "un una questo questa quel quella ogni",
    dating: "in da a di fino prima dopo",
    phatic: "ciao buongiorno buonasera notte grazie mille prego ok sì no certo perfetto bene molto buono buona continua ancora \
             aspetta momento arrivederci presto capito pensi dimmi aiuto aiutare va",
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
    saying: "disse disseste recomendou recomendaste sugeriu sugeriste aconselhou explicou deu escreveu dito recomendado \
             conselho recomenda",
    modal: "pode podes poderia podia",
    article: "um uma este esta esse essa cada",
    dating: "em desde de até antes depois",
    phatic: "olá oi bom boa dia tarde noite obrigado obrigada favor ok sim não claro perfeito ótimo bem muito continua mais espera \
             momento tchau adeus logo entendi achas acha ajuda ajudar tudo beleza valeu",
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
    saying: "gezegd aangeraden geadviseerd voorgesteld genoemd uitgelegd gegeven geschreven advies tip tips",
    modal: "kun kunt kan zou",
    article: "een deze dit die elke elk",
    dating: "in sinds tot van voor na",
    phatic: "hallo hoi hey goedemorgen goedenavond dank bedankt graag ok oké ja nee prima goed mooi super perfect verder meer wacht \
             even moment doei dag later begrepen snap denk hulp helpen",
    model: "assistent chatbot bot",
    irregular: "",
    months: "januari februari maart april mei juni juli augustus september oktober november december",
};

const TURKISH: Words = Words {
    stop: "acaba ama ancak bana ben beni benim bir bu bunu çok da daha de değil diye en gibi hem ile ise için ki mı mi mu mü \
           o olan olarak ona onu onun sen seni senin siz şey şu var ve veya ya yani yok biz bize bizi bizde bizim",
    question: "ne neye neyi neden nasıl nerede nereye nereden niye hangi kaç kim kime kimi kimde kimin ne zaman mısın misin \
               musun müsün mıyım miyim lütfen söyler",
    filler: "bir ve",
    negation: "değil yok hiç asla",
    first_person: "",
    second_person: "",
    saying: "",
    modal: "",
    article: "",
    dating: "",
    phatic: "merhaba selam günaydın iyi akşamlar geceler günler teşekkürler teşekkür ederim sağol tamam evet hayır olur güzel harika \
             süper devam et bekle görüşürüz anladım",
    model: "asistan",
    irregular: "",
    months: "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
};
