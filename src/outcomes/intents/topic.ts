// Whether news of one topic are asked for. A digest returns all entries of its feeds, so that has to be said before anybody pays.
import { foldPhrase, type Token, URL_MARK } from './tokens.ts'
import { DEMO_ALSO, findWord, POLITE } from './vocabulary.ts'

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))

/** What is asked for news, before "about", "in" or "from" and the topic. */
const NEWS = wordSet(
  'news headline headlines story stories updates update latest new happened happening briefing digest ' +
    'اخبار خبر اخبارا عناوين خبرا مستجدات المستجدات جديد صار صاير حصل اخبارك موجز نشره الاخبار اخر',
)
/** Nouns that a topic stands directly before: "football news". */
const NEWS_NOUNS = wordSet('news headline headlines story stories briefing')
/** Arabic puts the topic behind. */
const ARABIC_NOUNS = wordSet('اخبار خبر اخبارا خبرا الاخبار عناوين مستجدات المستجدات جديد')
const OF_TOPIC = wordSet(
  'about on of from in with regarding concerning around for عن حول بخصوص بشان في من ف بـ',
)
/** Words that choose no topic, beside those of the vocabulary. */
const NEUTRAL = wordSet(
  `all any every each most more other the a an and or to for from in on of at by with is are was today tonight yesterday this that these those week month
  year day days hours hour morning evening last past recent current fresh freshest newest new latest top main major big breaking important hot trending general good best
  first short few some several world today's todays now daily weekly recently lately online internet web my me i us our your feed feeds rss source sources reader
  tech technology technological technical techy software hardware computing computer digital it industry hacker hackernews hn ai geek programming developer developers
  only just please thanks item items entry entries article articles post posts link links title titles limit max up most number count list least what whats s re there
  anything something everything lot here again happening happened happens going hours minutes number three two four five six seven eight nine ten dozen twenty thirty
  اليوم النهارده النهارده امبارح هذا هذه ده دي الاسبوع الشهر السنه الان دلوقتي الحين هلق هسه اخر احدث اهم ابرز اول كل جميع بعض تقنيه تقنيا التقنيه تقني التقني تكنولوجيا
  التكنولوجيا تكنولوجي التكنولوجيه العالم عالم بعالم الاخبار فقط بس يا في من علي الي عن و او لو ساعه ساعات يوم ايام جديده الجديده جديد الجديد عاجله العاجله مهمه المهمه رييسيه الرييسيه
  عامه العامه بقي كمان لليوم سمحت فضلك شكرا رجاء وشكرا بتاع بتاعه تبع هات ملخص انا لي لنا ياريت المدونه مدونه الموقع موقع خلاصه الخلاصه هالموقع خبر خبرا عناوين`,
)

/** @param query tokens of "about …", if that was said */
export function hasTopic(
  tokens: readonly Token[],
  query: { readonly from: number; readonly to: number } | undefined,
): boolean {
  if (query && tokens.slice(query.from, query.to).some(isTopical)) return true
  return tokens.some(({ word }, i) => {
    const next = tokens[i + 1]
    const after = tokens[i + 2]
    if (NEWS.has(word) && next && !next.afterBreak && OF_TOPIC.has(next.word) && after && !after.afterBreak)
      if (isTopicAt(tokens, i + 2)) return true
    if (HAPPENING.has(word) && next && !next.afterBreak && isIn(next)) return true
    if (ARABIC_NOUNS.has(word) && next && !next.afterBreak && isTopical(next)) return true
    const previous = tokens[i]?.afterBreak ? undefined : tokens[i - 1]
    return NEWS_NOUNS.has(word) && previous !== undefined && isTopical(previous)
  })
}

/** In Arabic "in" is a letter before the word: شو صار بأوكرانيا. */
const HAPPENING = wordSet('صار صاير حصل حاصل يصير بيحصل بيصير جديد الجديد')
const isIn = (token: Token) =>
  /^[بف]..../.test(token.word) &&
  isTopical(token) &&
  isTopical({ ...token, word: token.word.replace(/^[بف]/, '') })

/** "on the Egyptian elections": articles and the like are skipped. */
function isTopicAt(tokens: readonly Token[], at: number): boolean {
  for (const token of tokens.slice(at, at + 3)) {
    if (token.afterBreak || token.word === URL_MARK) return false
    if (isTopical(token)) return true
  }
  return false
}

function isTopical({ word }: Token): boolean {
  if (word === URL_MARK || /^\d+$/.test(word) || word.length < 2) return false
  if (NEUTRAL.has(word) || POLITE.has(word) || DEMO_ALSO.has(word)) return false
  return findWord(word)?.points['feed-digest'] === undefined
}
