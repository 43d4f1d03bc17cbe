// Sentences of pages that are none, in English, by their parts: who, and what became of it. Wordings differ from site to site, their grammar
// hardly. They are said of this page or this site, to its visitor: a notice about a lift or a library is none. Beside `signs.ts`, which has
// whole ones.
import type { PoorReason } from './reasons.ts'

/** What a page can be about that is itself a page, and has an address. */
const THING =
  '(?:page|product|item|article|offer|ad|advert|listing|link|content|document|file|video|profile|account|job|vacancy|position|thread|topic|address|url)'
const SITE = '(?:page|(?:web)?site|blog|app(?:lication)?|web service|forum|portal)'
const READ = '(?:see|view|read|open|access|download|unlock|continue)'

/** Alternatives for the search, each of them bounded. */
export const SENTENCES = {
  soft_404: [
    `\\b(?:this|that) ${THING}(?: you [\\w ']{1,30})? (?:is|was|has|seems|appears|might|may|does|did)\\b[^.!?]{0,40}\\b(?:vanished|disappeared|taken down|withdrawn|unpublished|gone|deleted|expired|(?:no longer|n't|not) (?:here|exist|live|online))\\b`,
    `\\bthe (?:page|link|content|url|address|document) (?:you|that you|behind this link)\\b[^.!?]{0,40}\\b(?:vanished|disappeared|gone|expired|(?:no longer|n't|not) (?:here|exist|live|online|at this))\\b`,
    '\\bthis (?:vacancy|offer|listing|ad|auction|promotion) (?:is|has|was)(?: now| already| been){0,2} (?:closed|filled|ended|expired|over)\\b',
    '\\bno (?:such )?(?:page|content|article|document)s? (?:here|(?:exists? |found )?(?:at|under|behind|with) (?:this|that) (?:address|url|link|location|name))',
    '\\b(?:the link|this address|this url)[^.!?]{0,20} (?:is|may be|might be|seems|was)(?: to be)? (?:wrong|broken|dead|outdated|incorrect|mistyped)\\b',
  ],
  server_error: [
    "\\b(?:we|our (?:team|engineers|developers))(?:'ve| have| has)?(?: already)? been (?:notified|alerted|informed)\\b",
    `\\b(?:we're|we are|our (?:team|engineers) (?:is|are)) (?:currently |just |busy )?(?:upgrading|updating|rebuilding|repairing) (?:our (?:systems?|servers?|${SITE})|this ${SITE})\\W*$`,
    `\\b(?:our|this) (?:${SITE}|servers?|database) (?:is|are) (?:temporarily |currently |briefly )(?:down|offline|overloaded|out of order|unreachable)\\b`,
    '\\bthe (?:web )?server (?:reported|returned|sent) (?:a|an)(?: invalid| bad| unexpected)? (?:error|gateway|response)\\W*$',
    '^(?:php )?(?:warning|notice|parse error|fatal error): .{0,200} in /',
  ],
  captcha: [
    "\\b(?:that )?(?:you're|you are) not (?:a |an )?(?:ro)?bot\\b",
    '\\b(?:drag|slide) the slider\\b|\\btick the box (?:below|to)\\b|\\bselect all (?:the )?(?:images|pictures|squares|tiles) (?:with|that|of)',
    '\\b(?:flagged|detected|identified) (?:your |unusual |suspicious |automated )(?:connection|activity|requests?|traffic|behaviou?r)',
    "kein roboter sind|n'êtes pas un robot|no (?:eres|es|soy) un robot",
  ],
  access_denied: [
    '\\b(?:requests?|visitors?|traffic|connections?) from your (?:network|ip|address|location|country|region|provider|organi[sz]ation)\\b',
    '\\byour (?:request|connection|ip(?: address)?|visit) (?:was|has been|is) (?:stopped|blocked|rejected|denied|filtered) (?:by (?:our|the) (?:\\w+ )?(?:firewall|security|server|filter)|because)',
    "\\b(?:you're|you are) (?:going|sending requests|clicking|browsing|making requests) too (?:fast|quickly|often)",
    "\\b(?:can(?:no|')t|are unable to) (?:show|offer|serve|display)[^.!?]{0,40} (?:in|from|because of) (?:your (?:country|region|location)|where you)",
  ],
  login_wall: [
    `\\bonly (?:registered|logged[- ]in|signed[- ]in) (?:users|members|visitors) (?:can|may) ${READ}\\b`,
    `\\byou (?:need|must have) (?:an? (?:\\w+ )?)?account to ${READ} (?:this|the)\\b`,
    `\\b(?:sign|log) (?:up|in)[^.!?]{0,20} (?:to|and) ${READ} (?:the (?:full|rest|whole)|this|more|all)`,
    `\\b(?:join|register)(?: now| for free| us| our community){0,2} to ${READ} (?:the (?:full|rest|whole)|this|more|all)`,
  ],
  paywall: [
    `\\b${READ} the (?:rest|full (?:story|article|text)|whole (?:story|article)) with (?:a |our |your )?(?:subscription|membership|plan)`,
    "\\b(?:you've|you have) (?:used|read|reached|viewed) (?:up )?(?:all |the last )?(?:of )?your (?:\\w+ )?free (?:stories|articles|reads|views|pages)\\b",
  ],
  consent_wall: [
    '\\b(?:agree|accept|consent) and (?:close|continue|proceed)\\b',
    '\\b(?:agree|accept|consent) to (?:\\w+ ){0,3}cookies[^.!?]{0,20},? or (?:pay|subscribe|buy)',
    '\\bwe and (?:our )?[\\d,. ]{1,8}(?:partners|vendors) (?:store|use|process|access)',
  ],
  parked_domain: [
    '\\bthis (?:web)?(?:site|page|domain) (?:has|is) (?:not (?:been )?(?:yet )?(?:set up|configured|built|published|created|live)|only a placeholder)',
    '\\bhosting (?:space|account|package) (?:is|has been) (?:now )?(?:ready|active|activated|set up|suspended)',
    '^something (?:\\w+ )?is (?:coming(?: soon)?|on (?:its|the) way|brewing)\\W*$',
    "\\b(?:be the first to (?:know|hear)|(?:notify|tell) me|we'll let you know)\\b[^.!?]{0,30}\\b(?:when|as soon as|once) we (?:launch|open|go live|are live|are ready)\\b",
  ],
  age_gate: [
    '\\byour (?:year|date) of birth to (?:enter|come in|continue|proceed|go on)\\b',
    '\\bare you of (?:legal|full|drinking)[^.!?]{0,20} age\\b',
  ],
  empty_listing: [
    '\\bwe (?:found|find) (?:nothing|no \\w+) (?:for|matching|that match)',
    '\\bthis (?:category|collection|folder|section|shop|store|archive) is (?:currently |still )?empty',
    '^nothing (?:matches|matched|found)(?: (?:yet|here|your \\w+|for .{1,40}))?\\W*$',
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
  ],
} as const satisfies Partial<Record<PoorReason, readonly string[]>>
