// Sentences of pages that are none, in English, by their parts: who, and what became of it. Wordings differ from site to site, their grammar
// hardly. They are said of this page or this site, to its visitor: a notice about a lift or a library is none. Beside `signs.ts`, which has
// whole ones.
import type { PoorReason } from './reasons.ts'

/** What a page can be about that is itself a page, and has an address. */
const THING =
  '(?:page|product|item|article|offer|ad|advert|listing|link|content|document|file|video|profile|account|job|vacancy|position|thread|topic|address|url)'
const SITE = '(?:page|(?:web)?site|blog|app(?:lication)?|web service|forum|portal)'
/** Who put it there. */
const OWNER = '(?:author|uploader|owner|seller|organi[sz]er|publisher|poster|maker)'
const GONE =
  '(?:removed|deleted|withdrawn|ended|cancelled|renamed|moved|taken (?:it |this )?(?:down|away|offline))'
const WE = '(?:we|our (?:systems?|servers?|site|team))'
const PERSON =
  '(?:human|real|genuine|a (?:real )?(?:person|human|visitor|people)|not a (?:machine|robot|bot|script|program|computer))'
const MEMBERS =
  '(?:staff|employees|(?:our |registered )?(?:members|customers|users|dealers|subscribers|partners|guests|readers))'
const READ = '(?:see|view|read|open|access|download|unlock|continue)'

/** Alternatives for the search, each of them bounded. */
export const SENTENCES = {
  soft_404: [
    `\\b(?:this|that) ${THING}(?: you [\\w ']{1,30})? (?:is|was|has|seems|appears|might|may|does|did)\\b[^.!?]{0,40}\\b(?:vanished|disappeared|taken down|withdrawn|unpublished|gone|deleted|expired|(?:no longer|n't|not) (?:here|exist|live|online))\\b`,
    `\\bthe (?:page|link|content|url|address|document) (?:you|that you|behind this link)\\b[^.!?]{0,40}\\b(?:vanished|disappeared|gone|expired|(?:no longer|n't|not) (?:here|exist|live|online|at this))\\b`,
    '\\bthis (?:vacancy|offer|listing|ad|auction|promotion) (?:is|has|was)(?: now| already| been){0,2} (?:closed|filled|ended|expired|over)\\b',
    '\\bno (?:such )?(?:page|content|article|document)s? (?:here|(?:exists? |found )?(?:at|under|behind|with) (?:this|that) (?:address|url|link|location|name))',
    '\\b(?:the link|this address|this url)[^.!?]{0,20} (?:is|may be|might be|seems|was)(?: to be)? (?:wrong|broken|dead|outdated|incorrect|mistyped)\\b',
    `\\bthis (?:${THING}|\\w{3,20}) (?:is|has|was) (?:no longer|not any ?more)(?: an? active| active| available| listed| offered| on sale| for sale| open| online| part of our (?:range|collection|catalogue|shop))`,
    `\\b(?:its|the) ${OWNER} (?:has|have) ${GONE} (?:it|this)?`,
    `\\b(?:${THING}|\\w{3,20}) (?:that )?(?:you were|you are|you're) (?:after|looking for|seeking)\\b[^.!?]{0,30}\\b${GONE}`,
    '\\b(?:link|address|url|page)\\b[^.!?]{0,20}\\bleads? (?:nowhere|to nothing|into the void)',
    `\\bwe (?:could not|couldn't|cannot|can't) find (?:any(?:body|one|thing)|an? (?:\\w+ )?${THING}) (?:called|named|with|under|at|by|like)\\b`,
    `\\bthere (?:used to be|was once|once was) an? (?:\\w+ )?${THING} (?:here|at this)`,
    `\\b(?:address|url|link) (?:that |which )?you (?:typed|entered|followed|used|clicked)[^.!?]{0,20} (?:does not|doesn't|is not|isn't|is broken|may be|leads)`,
    "\\bwe(?: have|'ve)? (?:stopped selling|no longer (?:sell|stock|carry|offer|make)) this\\b",
    `\\bthis ${THING} has left\\b|\\bthis \\w{3,20} has left (?:the|our) `,
    '(?:adresse|seite|link|angebot|artikel)\\b[^.!?]{0,40}\\b(?:gibt es (?:bei uns |hier )?nicht(?: mehr)?|führt ins leere|existiert nicht(?: mehr)?)|von ihnen (?:aufgerufene|gesuchte|eingegebene|gewählte) (?:adresse|seite)',
    "(?:adresse|page|lien|document|contenu)\\b[^.!?]{0,30}(?:ne mène nulle part|n'existe (?:plus|pas)|a (?:peut-être )?été (?:déplacé|supprimé))",
    '(?:enlace|página|contenido|dirección)\\b[^.!?]{0,40}(?:está roto|fue (?:eliminad|borrad|movid)|no lleva a|ya no existe|no existe)',
    '\\bthere is currently no text (?:in|on) this page|\\bdoes not exist or has (?:already )?(?:been|taken place|ended|expired)|\\bis not here (?:now|any ?more)',
    '(?:contenuto|pagina|prodotto)\\b[^.!?]{0,30} (?:non è più disponibile|non esiste più|non è stat[oa] trovat[oa])',
    '\\baucune page ne correspond|\\b(?:seite|artikel|inhalt|beitrag) wurde (?:entfernt|gelöscht|verschoben|umbenannt)|went out of print and we',
    '\\bthis (?:page|article|post) has been archived or|\\bhas sold out for good|\\bhas closed (?:their|his|her|this) account\\W*$|\\bno (?:record|entry|item) with this (?:number|name|id) (?:was|has been|could be) found',
    '\\bsidan du (?:försökte nå|letar efter|söker) (?:har|finns|kunde)',
  ],
  server_error: [
    "\\b(?:we|our (?:team|engineers|developers))(?:'ve| have| has)?(?: already)? been (?:notified|alerted|informed)\\b",
    `\\b(?:we're|we are|our (?:team|engineers) (?:is|are)) (?:currently |just |busy )?(?:upgrading|updating|rebuilding|repairing) (?:our (?:systems?|servers?|${SITE})|this ${SITE})(?:\\W*$|\\. please)`,
    `\\b(?:our|this) (?:${SITE}|servers?|database) (?:is|are) (?:temporarily |currently |briefly )(?:down|offline|overloaded|out of order|unreachable)\\b`,
    '\\bthe (?:web )?server (?:reported|returned|sent) (?:a|an)(?: invalid| bad| unexpected)? (?:error|gateway|response)\\W*$',
    '^(?:php )?(?:warning|notice|parse error|fatal error): .{0,200} in /',
    `\\bsomething (?:at|on) our (?:end|side) (?:broke|failed|went wrong|is broken)|\\bwe(?:'ve| have)? (?:hit a snag|run into (?:a|some) (?:problem|trouble)|ran into (?:a|some) (?:problem|trouble))`,
    `\\bour (?:engineers|developers|team|technicians) (?:have|has) been (?:told|informed|notified)`,
    `\\b(?:the|this|our) ${SITE} (?:cannot|can't|could not|is unable to) reach (?:its|the|our) (?:database|servers?|backend)`,
    `\\b(?:${WE}|the ${SITE}|it) (?:will|'ll) be back (?:online|up|soon|shortly|again|in a)|\\bwill be back online\\b`,
    `\\bour (?:servers?|systems?) (?:is|are) (?:overloaded|busy|overwhelmed|struggling|down)`,
    '\\ban? (?:unexpected|internal|unknown|temporary) (?:fault|error|problem|failure) (?:has )?(?:occurred|happened)',
    "^upstream (?:connect error|request timeout)|\\b(?:page|content|site)[^.!?]{0,20} (?:could not|cannot|can't) be (?:loaded|shown|displayed) (?:because of|due to|owing to) an? (?:technical|temporary|internal)|^out of service until",
    '\\b(?:application|service|site) could not be started|(?:seite|website) wird (?:gerade|derzeit) aktualisiert|wir sind gleich zurück',
    '^allowed memory size of \\d+ bytes exhausted|^we are over capacity|^maximum execution time of \\d+',
  ],
  captcha: [
    "\\b(?:that )?(?:you're|you are) not (?:a |an )?(?:ro)?bot\\b",
    '\\b(?:drag|slide) the slider\\b|\\btick the box (?:below|to)\\b|\\bselect all (?:the )?(?:images|pictures|squares|tiles) (?:with|that|of)',
    '\\b(?:flagged|detected|identified) (?:your |unusual |suspicious |automated )(?:connection|activity|requests?|traffic|behaviou?r)',
    "kein roboter sind|n'êtes pas un robot|no (?:eres|es|soy) un robot",
    `\\b(?:show|prove|confirm|verify|check|know|make sure|sure)(?: us)?(?: that)? (?:you are|you're) (?:indeed |really )?${PERSON}`,
    `\\bif you are (?:a real (?:visitor|person)|human)\\b|\\brequests? (?:come|comes|coming|came) from an? (?:script|bot|program|robot)`,
    `\\b(?:make sure|making sure|check|checking|verify|verifying)(?: that)? your (?:browser|connection|request|visit)(?: is (?:genuine|secure|real)| before| and)?`,
    '\\b(?:type|enter|copy) the (?:letters|characters|digits|numbers|text|word)s? (?:that )?(?:you see|shown|in the (?:picture|image))',
    `(?:confirmer|vérifier|prouver|prouvez|confirmez)[^.!?]{0,20} que vous (?:n'êtes pas un robot|êtes (?:humain|une personne))`,
    "\\bto discuss automated access to|\\b(?:press|click|hold) (?:and hold )?the button[^.!?]{0,30}(?:keep it pressed|hold it|to continue)|\\b(?:let us|let's) see if you are|\\b(?:move|drag) the (?:piece|puzzle) ",
    '\\bclick on every (?:picture|image|square|tile) |^(?:verification|check) in progress\\b',
  ],
  access_denied: [
    '\\b(?:requests?|visitors?|traffic|connections?) from your (?:network|ip|address|location|country|region|provider|organi[sz]ation)\\b',
    '\\byour (?:request|connection|ip(?: address)?|visit) (?:was|has been|is) (?:stopped|blocked|rejected|denied|filtered) (?:by (?:our|the) (?:\\w+ )?(?:firewall|security|server|filter)|because)',
    "\\b(?:you're|you are) (?:going|sending requests|clicking|browsing|making requests) too (?:fast|quickly|often)",
    "\\b(?:can(?:no|')t|are unable to) (?:show|offer|serve|display)[^.!?]{0,40} (?:in|from|because of) (?:your (?:country|region|location)|where you)",
    `\\b(?:firewall|security (?:system|service|rules?))\\b[^.!?]{0,30} (?:turned|sent|stopped|blocked|rejected|refused)[^.!?]{0,10} your (?:request|visit|connection)`,
    `\\byou(?:'ve| have)? sen[dt] us (?:too many|more) requests|\\byour (?:ip |network )?address (?:is|has been|was) (?:blocked|banned|locked)`,
    `\\b(?:you are|you're|you seem to be) using an? (?:vpn|proxy|anonymi[sz]er)`,
    `\\byou (?:lack|do not have|don't have) (?:the |any )?(?:rights?|permissions?|access|privileges) to (?:open|see|view|read|enter|use)`,
    '\\byou are not (?:authori[sz]ed|allowed|permitted) to (?:look at|see|view|open|access|read)|\\bdo(?:es)? not allow visits from',
    '\\brequested url was rejected|\\b(?:service|programme|content|site) is (?:offered|available|open) (?:only )?to residents of[^.!?]{0,30} only',
  ],
  login_wall: [
    `\\bonly (?:registered|logged[- ]in|signed[- ]in) (?:users|members|visitors) (?:can|may) ${READ}\\b`,
    `\\byou (?:need|must have) (?:an? (?:\\w+ )?)?account to ${READ} (?:this|the)\\b`,
    `\\b(?:sign|log) (?:up|in)[^.!?]{0,20} (?:to|and) ${READ} (?:the (?:full|rest|whole)|this|more|all)`,
    `\\b(?:join|register)(?: now| for free| us| our community){0,2} to ${READ} (?:the (?:full|rest|whole)|this|more|all)`,
    `\\b(?:this|the) (?:part|area|section|page|content|space|zone)\\b[^.!?]{0,40}\\b(?:reserved|only|open|restricted|limited) (?:for|to) ${MEMBERS}`,
    `\\b(?:once|after|until|unless) you(?:'ve| have| are|'re)? (?:signed|logged) in|\\b(?:sign|log) in(?: with your [\\w ]{1,20})? (?:first|if you already have)`,
    `\\byour session (?:has )?(?:run out|timed out|ended|expired)(?! when| if| after)|\\bwe(?:'ve| have)? (?:signed|logged) you (?:off|out)`,
    `\\b(?:identify yourself|sign in|log in) (?:again|once more)|\\buse your (?:work|school|company|dealer|member) account to (?:get in|sign in|log in|continue|enter)`,
    `\\bthis ${THING} is private|\\bthis (?:album|board|channel|group|playlist|space|gallery|wiki|repository) is private`,
    `\\b(?:prices?|stock|content|details|results)[^.!?]{0,20} (?:is|are) (?:only )?(?:shown|visible|available) to ${MEMBERS}`,
    '(?:para (?:ver|acceder|leer|continuar)[^.!?]{0,30}|usted )(?:tiene que|debe|necesita) (?:identificarse|registrarse|acceder|conectarse)',
    '(?:müssen|sollten) sie (?:sich (?:zuerst |erst )?(?:anmelden|einloggen)|angemeldet sein|eingeloggt sein)|noch kein konto',
    `\\b(?:log|sign) in or (?:register|sign up|join) to (?:join|reply|comment|take part|${READ})|\\byou are browsing as a guest`,
    'connectez-vous (?:pour|afin) |identifiez-vous (?:pour|afin) |\\benter your (?:library )?card number and pin',
    '\\byou must be a member of this (?:\\w+) to |^authentication (?:is )?required\\W*$|\\byou will be asked for (?:the|a) (?:code|password)',
  ],
  paywall: [
    `\\b${READ} the (?:rest|full (?:story|article|text)|whole (?:story|article)) with (?:a |our |your )?(?:subscription|membership|plan)`,
    "\\b(?:you've|you have) (?:used|read|reached|viewed) (?:up )?(?:all |the last )?(?:of )?your (?:\\w+ )?free (?:stories|articles|reads|views|pages)\\b",
    `\\b(?:you've|you have) (?:used up|run out of|reached the (?:end|limit) of|no more) (?:all )?(?:of )?(?:your |the )?free (?:articles|stories|reads|views)|\\b(?:that|this) (?:was|is) your last free (?:story|article|read)`,
    `\\bthe rest (?:of this (?:story|article|text|piece) )?is (?:only )?(?:for|reserved for|behind)|\\bunlock this (?:story|article|piece|text)`,
    `\\b(?:take out|buy|start|choose|pick|get) an? (?:\\w+ )?(?:subscription|plan|membership|pass) to (?:keep|continue|carry|go on|read)|\\bto (?:go on|read on|carry on|keep reading|continue)[^.!?]{0,10},? (?:choose|pick|take out|buy|start|join)`,
    '\\b(?:is )?exclusive to (?:digital |paying |our )?(?:subscribers|members)|\\bwant to read on\\?|\\bstart your (?:free )?(?:trial|subscription) (?:for|to|and)',
    '\\bthe (?:remainder|rest) of this (?:report|article|story|text) is (?:available|open|free)? ?(?:only )?(?:to|for)\\b|\\bget access to the full (?:article|text|report)',
  ],
  consent_wall: [
    '\\b(?:agree|accept|consent) and (?:close|continue|proceed)\\b',
    '\\b(?:agree|accept|consent) to (?:\\w+ ){0,3}cookies[^.!?]{0,20},? or (?:pay|subscribe|buy)',
    '\\bwe and (?:our )?[\\d,. ]{1,8}(?:partners|vendors) (?:store|use|process|access)',
    `\\b(?:let|allow) us(?: and our (?:\\d+ )?(?:\\w+ )?partners)?[^.!?]{0,10} (?:to )?(?:set|store|use|place) cookies|\\b(?:your )?(?:permission|consent|agreement) to (?:set|store|use|place) cookies`,
    `\\b(?:ihre )?zustimmung (?:können sie )?jederzeit widerrufen|mit werbung und tracking`,
    '\\bselected third parties (?:collect|store|use|process)|\\bonze (?:\\d+ )?partners (?:plaatsen|gebruiken|slaan)|\\bplaatsen cookies',
    '\\bagree to (?:advertising|tracking) cookies|\\bpartners store information on your device|nos partenaires et nous utilisons',
    '^cookies help us\\b',
  ],
  parked_domain: [
    '\\bthis (?:web)?(?:site|page|domain) (?:has|is) (?:not (?:been )?(?:yet )?(?:set up|configured|built|published|created|live)|only a placeholder)',
    '\\bhosting (?:space|account|package) (?:is|has been) (?:now )?(?:ready|active|activated|set up|suspended)',
    '^something (?:\\w+ )?is (?:coming(?: soon)?|on (?:its|the) way|brewing)\\W*$',
    "\\b(?:be the first to (?:know|hear)|(?:notify|tell) me|we'll let you know)\\b[^.!?]{0,30}\\b(?:when|as soon as|once) we (?:launch|open|go live|are live|are ready)\\b",
    `^[\\w-]{2,60}\\.[a-z]{2,20} (?:can|could) be yours|\\bowner of this (?:name|domain|address)[^.!?]{0,20} (?:open to|accepts|is selling|takes) `,
    `\\b(?:make|submit|place) (?:a bid|an offer|your (?:bid|offer))\\b`,
    `\\b(?:to )?replace this (?:placeholder|(?:default |start |standard )?page)`,
    `\\bour new (?:home|${SITE}|shop|store|home on the web) is (?:under construction|on its way|being built|nearly ready|coming)`,
    `\\bregistration of this (?:domain|name)[^.!?]{0,10} (?:has )?(?:lapsed|expired|ended|run out)|\\brenew (?:it|this domain|the domain) (?:with|at) `,
    '\\b(?:domain|name) (?:was|is|has been) registered (?:for|by|with)[^.!?]{0,60} (?:has no website|no content|not yet)',
    '\\bowner of this domain parks|\\b(?:sign up|leave your address) to hear when (?:our|the) (?:shop|site|store)',
    '^interested in [\\w-]{2,60}\\.[a-z]{2,20}\\?',
  ],
  age_gate: [
    '\\byour (?:year|date) of birth to (?:enter|come in|continue|proceed|go on)\\b',
    '\\bare you of (?:legal|full|drinking)[^.!?]{0,20} age\\b',
    `\\b(?:are you|you are|you're)(?: not)? old enough\\b|\\b(?:you (?:have to|must|need to) be|confirm that you are|tell us that you are) (?:of (?:legal|full)|(?:at least )?(?:18|19|20|21|eighteen|twenty-one))`,
    `\\b(?:what|which|in which) year were you born|\\bwhen were you born\\b|\\b(?:this )?${SITE} is for (?:adults|grown-ups) only`,
    '\\byou must be old enough to (?:buy|enter|see|visit)',
    '\\bare you (?:over )?(?:18|19|20|21)(?: years)?(?: old)? or (?:over|older)',
  ],
  empty_listing: [
    '\\bwe (?:found|find) (?:nothing|no \\w+) (?:for|matching|that match)',
    '\\bthis (?:category|collection|folder|section|shop|store|archive) is (?:currently |still )?empty',
    '^nothing (?:matches|matched|found)(?: (?:yet|here|your \\w+|for .{1,40}))?\\W*$',
    `\\bnothing (?:on|in) this (?:shelf|category|section|list|collection|folder) (?:just now|yet|at the moment|right now|today|for now)`,
    `\\bthere (?:is|are) (?:currently )?(?:nothing|no (?:events?|vacanc(?:y|ies)|openings?|dates?|posts?|entries|articles))(?: (?:planned|scheduled|listed|posted|published|here|to show))?(?: yet| at the moment| right now| just now| for now| for this)`,
    `\\bwe are (?:not|currently not) (?:hiring|recruiting|looking for)[^.!?]{0,30} at (?:the|this) moment`,
    `\\byour search\\b[^.!?]{0,60}(?:did not|didn't|has not|hasn't) (?:turn(?:ed)?|bring|brought|find|found|return|match)`,
    '^0 of [\\d,.]+ (?:products|items|results)|\\bnobody has (?:written|posted|added|published) anything (?:here|yet)',
    '^(?:currently|at the moment|right now),? (?:we have|there are) no (?:offers|vacancies|events|products)',
  ],
  refresh_stub: [
    '\\bif (?:nothing happens|you are not (?:redirected|forwarded|taken))[^.!?]{0,30} (?:click|follow|use|tap) ',
    `\\b(?:this|our) ${SITE} (?:has moved|lives|can now be found) (?:to|at|under) (?:a|its|our|the) new (?:address|url|domain|home)\\b`,
    "\\b(?:we will|we'll) (?:take|send|forward) you there\\b|\\byou are being (?:taken|sent|forwarded) to\\b",
  ],
  script_shell: [
    `\\bthis (?:${SITE}|game|tool) (?:works|needs|runs|requires)\\b[^.!?]{0,30}\\b(?:javascript|scripts?) (?:to be )?(?:turned|switched) on\\b`,
    '^(?:getting|preparing|fetching|starting|initiali[sz]ing|setting up|warming up|building)\\b[^.!?]{0,40}(?:\\.{2,}|…)$',
    '^(?:hang tight|hold on|almost there)(?:[,!…]|\\.|$)',
    `\\b(?:you need|please use|requires?|needs) an?[^.!?]{0,20}browser (?:that|which) (?:runs|supports|has|can run) (?:javascript|scripts)`,
    `\\byour browser (?:has (?:them|scripts|javascript) (?:switched|turned) off|does not (?:run|support) (?:scripts|javascript))|\\b(?:scripts|javascript) (?:is|are) (?:switched|turned) off in your browser`,
    '\\bplease wait while (?:the|this|your) \\w+ (?:starts|loads)|\\byour browser (?:may be|is) blocking scripts',
    '\\bdo(?:es)? not (?:run|work|start) without javascript',
  ],
} as const satisfies Partial<Record<PoorReason, readonly string[]>>

/** What such a page says beside that: it tells its visitor where to go on, or that somebody knows. Alone it is nothing. */
export const ASIDES = {
  soft_404: [
    '\\b(?:have|take) a (?:quick )?look at (?:what else|our other|similar|other|the others)|\\bperhaps (?:one of )?our other|\\blet us know (?:where|how) you (?:found|got)|\\b(?:look at|check) (?:the|your) spelling',
    `\\b(?:account|page|post|file|document|profile|${THING}) (?:may|might|could) have been (?:deleted|renamed|removed|moved|closed)|\\bwe took it (?:away|down)|\\bapplications are no longer accepted|\\bsee other (?:vacancies|offers|pages)|\\buse the menu to find|\\b(?:invalid|wrong) (?:article|page|item) number|\\btry searching\\b|\\bbrowse our |\\ball (?:recipes|offers|products|events|articles)$`,
  ],
  server_error: [
    '\\b(?:please )?(?:come back|try again|look in again|check back) in (?:a|an|some|ten|five|a few) |\\bsee the log for details|\\bthank you for your patience|\\b(?:the )?(?:fault|error|problem) (?:has been|was) (?:logged|recorded|reported)|\\bclosed for (?:repairs|maintenance)|\\bwhile (?:this page|your request) was being',
  ],
  captcha: [
    '\\bdo not close this window|\\bbots are not welcome|\\btick the box\\b|\\bin (?:a few|about \\w+|\\w+) seconds\\b|\\btakes (?:about |only )?(?:a few|five|\\w+) seconds|\\b(?:be )?taken to the page|\\bbefore we let you|\\btraffic looks (?:odd|unusual|strange)|\\bour systems (?:think|believe)',
  ],
  access_denied: [
    '\\bplease ask the person|\\bconsult with your administrator|\\byour support id is|\\byou seem to be somewhere else|\\bcontact the administrator|\\bquote the number|\\bwait a (?:minute|moment|while) before|\\breference:? [\\da-f-]{4,}|\\bturn (?:it|the vpn|your vpn) off|\\b(?:speak|talk|write) to (?:its|the|your) (?:owner|administrator)|\\bslow down\\b|\\brequest (?:stopped|blocked|rejected)',
  ],
  login_wall: [
    "\\bmember(?:s'|ship)? (?:eyes|number|account)|\\bto carry on\\b|\\bfor your (?:own )?(?:safety|security)\\b|\\bcontinue with (?:single sign-on|sso)|\\bask (?:its|the) owner for an invitation|\\bregister for free|registrieren sie sich|usuario y (?:su )?contraseña|\\brequest to join\\b|pas encore inscrit|créez votre compte",
  ],
  paywall: [
    '\\b(?:join|support) (?:us|them) for [£$€]|[£$€] ?\\d+ a month|\\bfor our supporters|\\bto (?:keep|continue|go on) reading|\\bfor the price of one|\\bbuy it for [£$€]|\\brent it for |\\bchoose a plan|\\btake out a subscription',
  ],
  parked_domain: [
    '\\bhosting account is ready|\\b(?:leave|enter) your (?:e-?mail )?address|\\bsomething new is (?:on its way|coming)|\\bmake (?:a bid|an offer)|\\bopening (?:soon|this \\w+)$|\\bupload your (?:files|site|website|pages) (?:to|into|here)',
  ],
  age_gate: [
    '\\b(?:tell|give) us your date of birth|^(?:yes,? )?i am(?: not yet| not| over \\d+)?\\W*$|\\bbefore you (?:come in|go in|enter)\\b|\\bfor (?:adults|grown-ups) only',
  ],
  consent_wall: [
    '^agree to (?:advertising|tracking) cookies|agree to advertising cookies, or pay|agree and close, or|^(?:fine by me|allow cookies|only (?:the )?essential(?: ones| cookies)?|okay|settings|accepteren|weigeren|agree to all|only what is (?:needed|necessary)|einverstanden|i agree|take out a pass|allow|that is fine|got it)\\W*$|\\bor pay [£$€]',
  ],
  empty_listing: [
    '\\b(?:take off|remove|clear) (?:a|your|some) filter|\\b(?:do )?look in again|\\btry fewer words|\\bcome back (?:next|in a|soon|later)|\\bcheck back (?:soon|later)',
  ],
  script_shell: [
    '\\b(?:turn|switch) them on|\\bdrawn by scripts|\\bload the page (?:anew|again)|\\breload the page',
  ],
} as const satisfies Partial<Record<PoorReason, readonly string[]>>
