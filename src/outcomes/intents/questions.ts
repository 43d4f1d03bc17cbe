// A question about a page is the query of its extraction: "how hot should the water be according to …". Questions about the page itself
// (who wrote it, when was it published) are answered by every extraction, and are no query.
import { foldPhrase, type Token, URL_MARK } from './tokens.ts'
import { findWord } from './vocabulary.ts'

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))

const ASKING = wordSet(
  'how what whats when where who whos why which whether كم كام متي امتي من مين ما ماذا ليش ليه لماذا علاش وين فين كيف ازاي شحال ايه ايش شو شنو وش هل اي',
)
/** They ask only where a clause begins: "is parking free". */
const ASKING_FIRST = wordSet('is are was were does do did can could has have will should هل')
/** After these a question is told, not asked: "tell me how the engine works". */
const TELLING = wordSet(
  'tell me out know explain see say says learn check find extract get pull quote اعرف قولي قلي خبرني شوف وريني فهمني عرفني',
)
/** After these the address of the page follows. */
const ACCORDING = wordSet('according based per using via حسب بحسب وفقا وفق طبقا استنادا')
const BEFORE_ACCORDING = wordSet('as علي')
const PLACE = wordSet('in on from at of to under within by with في من علي ب عند')
/** Words that say nothing about what is asked. */
const EMPTY = wordSet(
  `is are was were be been does do did can could has have will would should shall may might must the a an of in on at to for from by with it its this that these
  those there here they them he she his her i me my we our you your and or any between among both two some as much many also exactly s re
  هو هي هم هذا هذه هذي ده دي دا هاد هاي في من علي الي عن ب ل و او ان ال لي بين كلا هاتان هاتين هذان هذين`,
)
/** What a page itself is asked for: an extraction says it anyway. */
const OF_PAGE = wordSet(
  `useful important point topic subject thing things happening look looks statement statements share common changed recently last written wrote writes published posted updated mean means about title titled called mention mentions anything interesting here say says said contain contains everything going
  difference differences differ same similar identical match matching agree contradict duplicates identical written new latest inside show find kind sort type begin begins start starts end ends
  يتحدث تتحدث يتكلم تتكلم بيتكلم يحكي بيحكي تختلف يختلف بتختلف بيختلف كتب كتبه كاتب كاتبه نشر نشرت موجود يوجد موضوع الموضوع حاجه شي شيء اهم فيه فيها مكتوب المكتوب يقول تقول بيقول قال عنوان الفرق فرق نفس متطابق متطابقه متطابقان متطابقتان متطابقين متشابه متشابهه متشابهان جديد الجديد اللي هنا هون`,
)
/** A question to whoever reads, not to the page: "can you read …". */
const READER = wordSet('you u please')
/** "can I get …", but "can I bring a dog" is asked of the page. */
const TAKING = wordSet('get have see read find download know ask view open use')
const MAX_WORDS = 25
const MAX_CHARACTERS = 200

export interface SaidQuestion {
  readonly query: string
  /** Tokens from (inclusive) and to (exclusive). */
  readonly from: number
  readonly to: number
}

/** @param text the one that the tokens were split from, with a mark for each address */
export function readQuestion(tokens: readonly Token[], text: string): SaidQuestion | undefined {
  for (const from of tokens.keys()) {
    if (!asksAt(tokens, from)) continue
    let to = from + 1
    while (to < tokens.length && to - from <= MAX_WORDS && !endsAt(tokens, to)) to++
    if (to - from > MAX_WORDS || isAboutPage(tokens.slice(from, to))) continue
    const query = text
      .slice(tokens[from]?.start, tokens[to - 1]?.end)
      .replace(/\s+/g, ' ')
      .trim()
    if ([...query].length <= MAX_CHARACTERS) return { query, from, to }
  }
  return undefined
}

function asksAt(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  if (!token) return false
  const previous = tokens[at - 1]
  const isFirst = !previous || token.afterBreak || previous.word === URL_MARK
  const isTold = previous !== undefined && TELLING.has(previous.word)
  if (ASKING.has(token.word)) return isFirst || isTold
  if (!ASKING_FIRST.has(token.word)) return false
  const [next, after] = [tokens[at + 1]?.word ?? '', tokens[at + 2]?.word ?? '']
  const isOfReader = READER.has(next) || ((next === 'i' || next === 'we') && TAKING.has(after))
  return (isFirst || isTold) && !isOfReader
}

function endsAt(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  if (!token || token.afterBreak || token.word === URL_MARK || ACCORDING.has(token.word)) return true
  const next = tokens[at + 1]?.word ?? ''
  if (BEFORE_ACCORDING.has(token.word) && ACCORDING.has(next)) return true
  // A preposition before the address, or before "the page".
  return PLACE.has(token.word) && isPlaceAt(tokens, at + 1)
}

function isPlaceAt(tokens: readonly Token[], at: number): boolean {
  const [first, second] = [tokens[at]?.word ?? '', tokens[at + 1]?.word ?? '']
  return (
    first === URL_MARK || (EMPTY.has(first) && (PAGE.has(second) || second === URL_MARK)) || PAGE.has(first)
  )
}
const PAGE = wordSet(
  'page article site website link url document text صفحه الصفحه مقال المقال موقع الموقع رابط الرابط هالصفحه هالمقال هالموقع هالرابط',
)

/** Nothing is asked but for what a page is, says or costs. */
const isAboutPage = (tokens: readonly Token[]) =>
  tokens.slice(1).every(({ word }) => {
    if (EMPTY.has(word) || OF_PAGE.has(word) || ASKING.has(word) || READER.has(word) || word === 'i')
      return true
    const points = findWord(word)?.points
    return points?.['web-extraction'] !== undefined || points?.['feed-digest'] !== undefined
  })
