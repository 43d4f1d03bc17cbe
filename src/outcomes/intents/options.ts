// Reads what else a sentence says plainly: how many, and about what. Anything less plain is left to the fields of the
// request.
import { foldPhrase, type Token, URL_MARK } from './tokens.ts'

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))

const MAX_LIMIT = 30
const MAX_QUERY_CHARACTERS = 200
const MAX_QUERY_WORDS = 12

const NUMBERS = new Map<string, number>(
  (
    'one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 thirteen:13 fourteen:14 ' +
    'fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 dozen:12 ' +
    'ثلاثة:3 ثلاث:3 تلاتة:3 تلات:3 أربعة:4 أربع:4 خمسة:5 خمس:5 ستة:6 ست:6 سبعة:7 سبع:7 ثمانية:8 ثماني:8 ثمان:8 ' +
    'تمانية:8 تمن:8 تسعة:9 تسع:9 عشرة:10 عشر:10 عشرين:20 عشرون:20 ثلاثين:30 ثلاثون:30 تلاتين:30 خمستاشر:15 خمسطعش:15 اتناشر:12'
  )
    .split(' ')
    .map((pair) => pair.split(':'))
    .map(([word = '', count]) => [foldPhrase(word), Number(count)]),
)
/** "twenty five" */
const TENS = new Set([20, 30])
const COUNTED = wordSet(
  'headline headlines item items entry entries story stories article articles post posts result results link links title titles ' +
    'خبر أخبار اخبارا عنوان عناوين عنوانا مقال مقالات مقالة بند بنود نتيجة نتائج منشور منشورات تدوينة تدوينات قصة قصص موضوع مواضيع خبرا مقالا',
)
const DUALS = wordSet('خبرين عنوانين مقالين مقالتين منشورين تدوينتين قصتين')
const BEFORE = wordSet(
  'top latest first last newest limit max maximum most only just recent freshest أحدث آخر أول أهم أبرز أفضل الأحدث أقصى بحد حد اعلى',
)
const NO_COUNT = wordSet(
  'hour hours day days week weeks month months minute minutes year years percent am pm gb mb usd dollar dollars eur euro ' +
    'ساعة ساعات يوم أيام أسبوع أسابيع شهر أشهر شهور دقيقة دقائق سنة سنوات عام دولار ريال جنيه درهم',
)
/** Words that may stand between a number and what it counts. */
const MAX_BETWEEN = 3

/** Reads how many, where it is said: at most 30. A year, a duration or a model number is no such number. */
export function readLimit(tokens: readonly Token[]): number | undefined {
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    if (!token) break
    if (DUALS.has(token.word)) return 2
    const count = numberAt(tokens, i)
    if (count === undefined) continue
    const end = i + count.length
    const next = tokens[end]
    if (next && NO_COUNT.has(next.word) && !next.afterBreak) continue
    const previous = token.afterBreak ? undefined : tokens[i - 1]?.word
    const isMarked = previous !== undefined && (BEFORE.has(previous) || isLimitTo(tokens, i))
    if (isMarked || isCounting(tokens, end)) return Math.min(count.value, MAX_LIMIT)
    i = end - 1
  }
  return undefined
}

function numberAt(tokens: readonly Token[], at: number): { value: number; length: number } | undefined {
  const word = tokens[at]?.word ?? ''
  if (/^\d{1,3}$/.test(word)) return Number(word) === 0 ? undefined : { value: Number(word), length: 1 }
  const value = NUMBERS.get(word)
  if (value === undefined) return undefined
  const unit = TENS.has(value) ? NUMBERS.get(tokens[at + 1]?.word ?? '') : undefined
  return unit !== undefined && unit < 10 ? { value: value + unit, length: 2 } : { value, length: 1 }
}

const isLimitTo = (tokens: readonly Token[], at: number) =>
  /(?:^| )(?:limit(?:ed|ing)?(?: it| them)? to|at most|up to|no more than)$/.test(
    tokens
      .slice(Math.max(0, at - 3), at)
      .map(({ word }) => word)
      .join(' '),
  )

function isCounting(tokens: readonly Token[], end: number): boolean {
  for (const { word, afterBreak } of tokens.slice(end, end + MAX_BETWEEN + 1)) {
    if (afterBreak || word === URL_MARK) return false
    if (COUNTED.has(word)) return true
  }
  return false
}

const ABOUT = wordSet('about regarding concerning عن بخصوص بشأن حول يخص تخص')
const SEARCH_FOR = new Set([
  'search for',
  'searching for',
  'look for',
  'looking for',
  'related to',
  'relevant to',
  'mention of',
  'mentions of',
  'passages on',
  'paragraphs on',
  'sections on',
  'section on',
  'information on',
  'details on',
  'evidence on',
  'anything on',
])
const PLACE = wordSet('from on in at of inside within using with من في على داخل ضمن بـ عبر')
const WHAT = wordSet('what which ماذا ايش ايه شو شنو وش')
const THIS = wordSet('this the that these those my our هذا هذه هذي هذول ده دي دول هاد هاي هال')
const PLACE_NOUN = wordSet(
  'page pages article articles site website link url document source sources feed text web internet it ' +
    'صفحة الصفحة الصفحات مقال المقال المقالة موقع الموقع رابط الرابط اللينك لينك مصدر المصدر المستند النص هالصفحة هالمقال هالرابط هالموقع',
)
const ENDING = wordSet('please thanks only plz pls فقط لو من_فضلك بس شكرا')

export interface SaidQuery {
  /** The query as it was said. */
  readonly query: string
  /** Tokens from (inclusive) and to (exclusive). */
  readonly from: number
  readonly to: number
}

/**
 * "about X", "عن X": what stands between those words and the end of the clause or the name of the place.
 * @param stops places in the text where something else is asked for
 */
export function readQuery(
  tokens: readonly Token[],
  text: string,
  stops: ReadonlySet<number> = new Set(),
): SaidQuery | undefined {
  for (const [i, { word }] of tokens.entries()) {
    // حول is "about", and at the beginning "convert".
    const isAbout = ABOUT.has(word) && !(word === 'حول' && tokens[i]?.afterBreak !== false)
    const from = i + (isAbout ? 1 : isSearch(tokens, i) ? 2 : 0)
    const first = tokens[from]
    if (from === i || first?.afterBreak !== false) continue
    let to = from
    while (
      to < tokens.length &&
      to - from <= MAX_QUERY_WORDS &&
      !isEnd(tokens, to, from) &&
      !isStop(tokens, to, stops)
    )
      to++
    if (to === from || to - from > MAX_QUERY_WORDS || isPlace(tokens, from)) continue
    // "About what is it?"
    if (WHAT.has(first.word)) continue
    const query = text
      .slice(first.start, tokens[to - 1]?.end)
      .replace(/\s+/g, ' ')
      .trim()
    if ([...query].length <= MAX_QUERY_CHARACTERS) return { query, from, to }
  }
  return undefined
}

const isSearch = (tokens: readonly Token[], at: number) =>
  tokens[at + 1]?.afterBreak === false && SEARCH_FOR.has(`${tokens[at]?.word} ${tokens[at + 1]?.word}`)

const AND = wordSet('and then و ثم وبعدين')

/** "about refunds and translate it" */
const isStop = (tokens: readonly Token[], at: number, stops: ReadonlySet<number>) => {
  const [token, next] = [tokens[at], tokens[at + 1]]
  if (!token) return false
  return AND.has(token.word)
    ? next !== undefined && stops.has(next.start)
    : token.word.startsWith('و') && stops.has(token.start)
}

function isEnd(tokens: readonly Token[], at: number, from: number): boolean {
  const token = tokens[at]
  if (!token || token.word === URL_MARK || (token.afterBreak && at > from)) return true
  const { word } = token
  return (PLACE.has(word) && isPlace(tokens, at + 1)) || ENDING.has(word)
}

/** A URL, "the page", "هذه الصفحة". */
function isPlace(tokens: readonly Token[], at: number): boolean {
  const word = tokens[at]?.word ?? ''
  const noun = THIS.has(word) ? (tokens[at + 1]?.word ?? URL_MARK) : word
  return noun === URL_MARK || PLACE_NOUN.has(noun)
}
