// Where the clauses of a sentence begin, and where in a clause a request can: after the words of politeness.
import { foldPhrase, type Token, URL_MARK } from './tokens.ts'
import { isJobWord } from './undone.ts'
import { findWord } from './vocabulary.ts'

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))

const JOINING = wordSet(
  'and with then plus also afterwards next besides additionally ثم وبعدين بعدين بعدها وبعدها كمان وكمان ايضا وايضا و',
)
/** "the entries of … translated into Spanish": what is done with the rest. */
const DONE_WITH = wordSet('translated summarised summarized مترجما مترجمه مترجم ملخصه ملخصا')
/** Words before a request that are no part of it. */
const LEADING = wordSet(
  `please pls plz kindly can could would will you u i we me us want wanna need like to a the just now hey hi hello dear sir madam so be kind as if
  id lets let help try your task is go and then also only maybe should must have get it do im
  من فضلك لو سمحت سمحتي ممكن اريد ان عايز عاوز عايزه بدي ابغي ابغا ابغاك ابي نبي نبغي بغيت ودي محتاج احتاج تقدر تقدري فيك قم قومي هل يمكنك يمكن يا ريت ياريت
  ارجو رجاء تكفي عفاك الرجاء اعمل اعملي لي لنا ليا انا بس هيا يلا`,
)

/** Verbs for what is done here. */
const DOING = wordSet(
  `extract get give read fetch pull compare show tell find list return check scrape grab copy take parse open collect digest merge retrieve obtain report price
  convert turn make clean strip download visit look load provide display output produce view see access process locate quote cite gather harvest dedupe
  deduplicate aggregate identify bring supply send transform format put render scan search browse cover preview ignore skip forget remember include keep
  use consider do have need want hand deliver present combine count pick filter sort track search investigate inspect examine determine learn know
  remove drop exclude lookup query answer gimme print reply gimme lemme fill leave contain contains say says mention according think care
  استخرج استخلص هات هاتلي اعطني اعطيني عطني اقرا جيب جبلي جيبلي اسحب طلع طلعلي قارن وريني شوف شوفلي شوفي قولي قوللي اجمع لاقي افتح اعرض انسخ ورجيني فرجيني جبل جيبي`,
)
/** After these comes an object, so that what stands before is a verb. */
const BEFORE_OBJECT = wordSet(
  'the this these that those my our your a an all every each @'.replace('@', URL_MARK),
)
/** They stand before an object, too, and are no verbs. */
const NO_VERBS = wordSet(
  `in on at of from to by for with without about into onto under over between among like as than per via through during after before since until
  all both just only not no any some each every what which who whose where when why how is are was were be does do did has have had can could will would if whether
  that this here there and or but so because while yes ok okay also even still again once twice half such many much more most few less
  according based using regarding concerning whats hows wheres whos whens theres heres thats its id im ive dont cant wont whichever please given considering see per`,
)

export interface Clause {
  /** Tokens from (inclusive) and to (exclusive). */
  readonly from: number
  readonly to: number
  /** A word joined it to what stands before, which may be the object of the same verb. */
  readonly isJoined: boolean
}

/** Every token belongs to exactly one. */
export function splitClauses(tokens: readonly Token[]): Clause[] {
  const clauses: Clause[] = []
  let from = 0
  for (let i = 1; i <= tokens.length; i++)
    if (i === tokens.length || startsClause(tokens, i)) {
      clauses.push({ from, to: i, isJoined: from > 0 && tokens[from]?.afterBreak === false })
      from = i
    }
  return clauses
}

function startsClause(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  if (!token) return false
  const { word, afterBreak } = token
  return afterBreak || JOINING.has(word) || DONE_WITH.has(word) || hasGluedAnd(word)
}

/** Arabic writes "and" as one letter before the word: ولخصه is "and summarise it", but ورد is a rose. */
function hasGluedAnd(word: string): boolean {
  return word.length > 3 && word.startsWith('و') && !NOT_GLUED.has(word) && isKnown(word.slice(1))
}
const isKnown = (word: string) => findWord(word) !== undefined || isJobWord(word) || DOING.has(word)
const NOT_GLUED = wordSet('واتس واتساب وصفه ويب وثيقه وثايق ويكيبيديا وورد')

/** Whether a request can begin at each token: at the beginning of its clause, after the words of politeness. */
export function findBeginnings(tokens: readonly Token[], clauses: readonly Clause[]): boolean[] {
  const begins = tokens.map(() => false)
  for (const { from, to, isJoined } of clauses)
    for (let i = from; i < to; i++) {
      begins[i] = true
      const word = tokens[i]?.word ?? ''
      // "https://… summarise it", but "what do https://… and https://… share".
      const isNoted = word === URL_MARK && i === from && !isJoined
      if (!LEADING.has(word) && !JOINING.has(word) && !isNoted) break
    }
  return begins
}

/** Whether a clause begins with something that is done here, so that it is a request of its own. */
export function isRequest(tokens: readonly Token[], { from, to }: Clause): boolean {
  for (const { word } of tokens.slice(from, to)) {
    if (DOING.has(word) || DOING.has(word.replace(/^و/, ''))) return true
    if (!LEADING.has(word) && !JOINING.has(word)) return false
  }
  return false
}

const EMPTY = wordSet(
  'is are was were be been it its this that these those here there of in on at to for from by with a an the and or but me my you your i we our s re ' +
    'في من علي الي عن هذا هذه ده دي هو هي و يا ال',
)

/** Whether a word says something: politeness, articles and numbers do not. */
export const isContent = ({ word }: Token): boolean =>
  word !== URL_MARK && !LEADING.has(word) && !EMPTY.has(word) && !JOINING.has(word) && !/^\d+$/.test(word)

/** "evaluate the …", "contact this …": the verb of a request that nobody knows. Verbs of the vocabulary are known. */
export function findStrangeRequest(tokens: readonly Token[], clauses: readonly Clause[]): Token | undefined {
  for (const { from, to, isJoined } of clauses) {
    const at = tokens.slice(from, to).findIndex(({ word }) => !LEADING.has(word) && !JOINING.has(word))
    const [verb, object] = [tokens[from + at], tokens[from + at + 1]]
    if (at < 0 || !verb || !object || object.afterBreak || from + at + 1 >= to) continue
    if (
      !/^[a-z]+$/.test(verb.word) ||
      verb.word.endsWith('ing') ||
      NO_VERBS.has(verb.word) ||
      DOING.has(verb.word)
    )
      continue
    // "Ignore menus and ads https://…": what is joined may be one object more.
    if (object.word === URL_MARK && isJoined) continue
    if (BEFORE_OBJECT.has(object.word) && findWord(verb.word) === undefined) return verb
  }
  return undefined
}

const BEFORE_ADDRESS = wordSet('of on at from in inside into to as is has does do did are من في علي الي ف')
const ASKING = wordSet(
  'what whats how when where who whose which why is are does do did has have can شو ايش ايه وش شنو كيف ازاي متي امتي وين فين كم كام من مين هل ليش ليه',
)

/**
 * Whether a sentence with an address has the form of one that asks for what stands there, whatever the nouns in it: "ingredients on …",
 * "look at …", "how does … begin".
 */
export function asksForPage(tokens: readonly Token[], clauses: readonly Clause[]): boolean {
  const isAtAddress = tokens.some(
    ({ word }, i) => word === URL_MARK && i > 0 && BEFORE_ADDRESS.has(tokens[i - 1]?.word ?? ''),
  )
  const [first, second] = tokens
  const isNoted = first?.word === URL_MARK && BEFORE_ADDRESS.has(second?.word ?? '')
  const begins = clauses.some((clause) => isRequest(tokens, clause) || ASKING.has(firstWord(tokens, clause)))
  return isAtAddress || isNoted || begins
}

const firstWord = (tokens: readonly Token[], { from, to }: Clause) =>
  tokens.slice(from, to).find(({ word }) => word !== URL_MARK)?.word ?? ''
