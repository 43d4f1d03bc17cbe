// Gives points to words for what they say about the job: points for a capability, for a job that is none of ours, or for a
// subject that only a page can be about. Data, and the look-up that forgives endings and slips of the finger. Arabic is
// written as it folds.
import { OUTCOME_IDS, type OutcomeId } from '../../../schemas/outcome.ts'
import { createLexicon } from './lexicon.ts'
import { foldPhrase } from './tokens.ts'

export type Side =
  | OutcomeId
  /** Two things are to be compared: products where prices or shops are spoken of, else what pages say. */
  | 'compare'
  /** A subject: with no page in hand it is a question to somebody else, with one it is what the page is about. */
  | 'subject'

export type Points = Partial<Readonly<Record<Side, number>>>
type Row = readonly [side: Side, points: number, words: string]

/** Single words. Things weigh more than what is done to them: "read the prices" is about prices. */
const WORDS: readonly Row[] = [
  ['extract-preview', 12, 'html xhtml هتمل'],
  ['extract-preview', 8, 'preview previewing markup snippet معاينه عاين'],

  ['web-extraction', 4, 'article webpage website scrape evidence passage excerpt paragraph blogpost مقال مقاله مقالات فقره فقرات مقتطف مقتطفات موقع مواقع ويب'],
  ['web-extraction', 3, 'page site text content document extract extraction scraping crawl crawling markdown heading table citation webpages body blog wiki wikipedia study report essay whitepaper صفحه صفحات نص النص نصه نصها والنص نصوص محتوي محتويات مستند مستندات وثيقه وثايق جدول جداول مدونه استخراج استخلاص تقرير اقتباس اقتباسات ماركداون'],
  ['web-extraction', 3, 'differ difference similarity contradict disagree overlap story markdown md txt خبر agree coverage فرق اختلاف'],
  ['web-extraction', 2, 'read parse fetch pull grab download post link transcript quote author byline info information detail documentation docs section readable رابط روابط لينك لينكات كاتب بوست منشور معلومات تفاصيل قسم بيانات'],
  ['web-extraction', 1, 'يتحدث يتكلم يحكي بيحكي يقول copy strip boilerplate reader mention publish published json duplicate identical written open visit load retrieve obtain collect gather view display return output show مكتوب مكتوبه داتا كلام نصا حاجه افتح انسخ نشر summarize summarise summary summarization tldr gist key main full url clean source data verify check fact say ملخص تلخيص خلاصه مصدر مصادر حقايق'],

  ['product-offers', 5, 'price pricing cheap cheaper cheapest pricelist sku gtin ean upc mpn سعر اسعار ثمن اثمان تمن ارخص رخيص اوفر بكام بكم بقديش قديش اديش قداش قداه سوم سومه بشحال تسعير تسعيره'],
  ['product-offers', 4, 'product cost offer discount deal expensive priciest availability available unavailable retail retailer merchant منتج منتجات سلعه سلع بضاعه عروض خصم خصومات تخفيض تخفيضات تكلفه كلفه اغلي متوفر متاح توفر تنزيلات'],
  ['compare', 3, 'compare comparison comparing مقارنه'],
  ['product-offers', 3, 'sell charge shop store seller vendor shipping item buy purchase bargain sale model msrp متجر متاجر محل محلات بايع شحن توصيل شراء قطعه'],
  ['product-offers', 2, 'worth currency brand stock مخزون مخزن ماركه فلوس دفع'],
  ['product-offers', 1, 'عرض'],

  ['feed-digest', 6, 'feed rss headline newsfeed فيد'],
  ['feed-digest', 5, 'news atom digest xml newspaper اخبار'],
  ['feed-digest', 4, 'bulletin syndication briefing roundup entry entries عناوين موجز مستجدات خلاصات نشره تغذيه عاجل'],
  ['feed-digest', 3, 'newsletter story stories خبر خلاصه مانشيت مانشيتات'],
  ['feed-digest', 2, 'latest update newest recent trending happening today احدث اخر جديد تحديثات اليوم تريند ملخص'],
  ['feed-digest', 1, 'tech technology تقنيه تكنولوجيا top اهم ابرز'],

  ['subject', 8, 'bitcoin btc ethereum crypto cryptocurrency dogecoin forex weather horoscope بيتكوين طقس بورصه ايثيريوم'],
  ['subject', 6, 'poem poetry song lyrics joke flight hotel taxi pizza equation algebra math maths mathematics gold dollar euro alarm timer temperature forecast قصيده اغنيه نكته نكت طيران فندق معادله رياضيات دولار ذهب يورو اسهم سهم منبه جو حراره تاكسي بيتزا عمله عملات'],
  ['subject', 5, 'recipe capital president music movie lottery chess python javascript sql riddle haiku novel restaurant ticket tickets visa وصفه طبخه عاصمه رييس موسيقي فيلم تذكره تذاكر روايه لغز شطرنج مطعم رحله شعر'],
  ['subject', 3, 'meeting calendar password account message letter photo image picture video صوره صور فيديو رساله حساب اجتماع موعد كود'],
] // prettier-ignore

/** Several words in a row. */
const PHRASES: readonly Row[] = [
  ['extract-preview', 10, 'page source|source code|html source|raw html|this markup|كود الصفحه|اتش تي ام ال|الكود المصدري|كود html'],
  ['web-extraction', 3, 'everything from|everything on|everything in|everything it|everything at|everything written|side by side|whats on|what is on|what s on|main text|main content|full text|article text|body text|clean text|what does it say|what it says|near duplicates|duplicate pages|نص المقال|النص الاساسي|المحتوي الرييسي|النص الكامل|ماذا يقول|بيقول ايه|شو مكتوب|ايش مكتوب|ايه المكتوب|المكتوب في'],
  ['product-offers', 6, 'how much is|how much are|how much does|how much do|how much for|how much will|how much would|how much the|how much this|how much it|how much to|how much ￼|would i pay|do i pay|have to pay|will i pay|set me back|sold out|going for|can i afford|ادفع كام|ادفع كم|هدفع كام|ولا خلص|how many dollars|how many euros|in stock|out of stock|price tag|best deal|best price|for less|want for it|asking for it|charge for it|price comparison|compare prices|كم سعر|كم ثمن|كم تكلفه|ايهما ارخص|انهي ارخص|مين ارخص|وين ارخص|فين ارخص|كم يكلف|بكام ده|بكام دي|كم حقه|كم حقها|حقه كم|حقها كم|بكم حقه'],
  ['feed-digest', 5, 'جديد التقنيه|جديد التكنولوجيا|going on|did i miss|have i missed|whats the latest|what is the latest|what s the latest|up to speed|whats new|what is new|what s new|latest posts|latest articles|recent posts|recent articles|new posts|new articles|latest stories|top stories|latest entries|latest updates|hacker news|tech news|catch me up|what happened|whats happening|what is happening|شو صار|ايش صار|وش صار|ايه اللي حصل|عم يصير|بيحصل ايه|keep me posted|keep me updated|up to date|ايه الجديد|ايه اخر|شو الجديد|شو في جديد|وش الجديد|ايش الجديد|ما الجديد|ايه اخبار|اخر الاخبار|احدث الاخبار|احدث المقالات|اخر المقالات|احدث المنشورات|اخر المنشورات|ار اس اس|نشره اخبار|خلاصه الاخبار|ملخص الاخبار|خلاصه rss|اخر الاخبار'],
  ['subject', 9, 'stock price|stock prices|stock market|share price|share prices|exchange rate|price of gold|price of oil|gold price|oil price|oil prices|what time|who is|who was|who won|who wrote|how old|meaning of life|how are you|good morning|your name|who are you|tell me a joke|سعر الصرف|سعر صرف|سعر الذهب|سعر الدولار|سعر البترول|سعر النفط|كم الساعه|الساعه كام|من هو|مين هو|كيف حالك|ازيك|صباح الخير|ما اسمك'],
] // prettier-ignore

/** Imperatives take a person in Arabic: تلخص، يلخص، نلخص، بتلخص. */
const ARABIC_VERBS: readonly Row[] = [
  ['web-extraction', 3, 'استخرج استخلص اسحب'],
  ['web-extraction', 2, 'اقرا قرا'],
  ['web-extraction', 1, 'لخص'],
  ['compare', 3, 'قارن'],
] // prettier-ignore
const PERSONS = ['', 'ت', 'ي', 'ن', 'ا', 'بت', 'بي']

/** The forms of an Arabic imperative, folded. */
export const withPersons = (verb: string): string[] =>
  PERSONS.map((person) => foldPhrase(person === '' ? verb : person + verb.replace(/^[اأ]/, '')))

const wordPoints = new Map<string, Points>()
const add = (map: Map<string, Points>, word: string, side: Side, points: number) =>
  map.set(word, { ...map.get(word), [side]: points })
for (const [side, points, words] of WORDS)
  for (const word of words.split(' ')) add(wordPoints, foldPhrase(word), side, points)
for (const [side, points, words] of ARABIC_VERBS)
  for (const word of words.split(' '))
    for (const form of withPersons(word)) add(wordPoints, form, side, points)

const phrasePoints: readonly (readonly [phrase: string, side: Side, points: number])[] = PHRASES.flatMap(
  ([side, points, phrases]) =>
    [...new Set(phrases.split('|').map(foldPhrase))].map((phrase) => [phrase, side, points] as const),
)

const lexicon = createLexicon(wordPoints)

/** The points of a word and the name that it counts under: the same thing said twice counts once. */
export function findWord(word: string): { readonly name: string; readonly points: Points } | undefined {
  const found = lexicon.find(word)
  return found && { name: found.name, points: found.value }
}

/** @param sentence folded words with single spaces, a space at both ends, and `|` where a clause begins */
export const findPhrases = (sentence: string): (readonly [Side, number])[] =>
  phrasePoints.flatMap(([phrase, side, points]) =>
    sentence.includes(` ${phrase} `) ? [[side, points] as const] : [],
  )

/** Capabilities that a sentence names by their ids, however the words are joined. */
export const findNames = (sentence: string): OutcomeId[] =>
  OUTCOME_IDS.filter(
    (id) => sentence.includes(` ${id.replace('-', ' ')} `) || sentence.includes(` ${id.replace('-', '')} `),
  )

const wordSet = (text: string) => new Set(text.split(/\s+/).map(foldPhrase))

export const DEMO = wordSet('demo demonstration تجربه تجريبي تجريبيه ديمو الديمو دمو')
export const DEMO_ALSO = wordSet(
  'sample samples example examples trial try try-out test عرض مثال نموذج عينه مجاني مجانيه مجانا تجريبيا جرب جربه جربها اجرب نجرب',
)
/** Words that a request for the demo is made of besides. */
export const POLITE = wordSet(
  `please pls plz kindly got result results output can could would will you i me us we want wanna need like to see have get let lets show give run start do a an
  the your of for it this that free just quick hi hello hey thanks thank some one my id out how works work what is there any now mode
  من فضلك لو سمحت سمحتي اريد اعطني اعطيني ارني شغل ابدا اعمل لي لنا ممكن عايز عاوز عايزه ابغي ابغا ابي بدي نبي اشوف شوف وريني ورني فرجيني هات هاتلي
  اعرض عطني عطيني تكرما رجاء شكرا يا في هذا هذه ده دي الي علي نفسي حابب حاب اود عندكم عندك نتيجه`,
)
/** Nouns that a demo can be the name or the kind of: "the demo page" is a page. */
export const DEMO_KIND = wordSet(
  'page pages site store shop website article product products video song tape account text html day reel url feed',
)
