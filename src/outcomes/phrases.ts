// Which outcome a sentence asks for, in English or Arabic. Word lists and counting: the same words, the same answer, always.
import { OUTCOME_IDS, type OutcomeId } from '../../schemas/outcome.ts'

export type Understanding =
  | { readonly kind: 'demo' }
  /** `exact`: the sentence names the capability itself, so it can contradict another field. */
  | { readonly kind: 'capability'; readonly capability: OutcomeId; readonly exact: boolean }
  | { readonly kind: 'unclear'; readonly between: readonly OutcomeId[] }
  | { readonly kind: 'nothing' }

/** Comparable form: compatibility forms, case, Arabic diacritics and letter variants, digits, punctuation. */
function foldWords(text: string): string[] {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u064B-\u065F\u0670\u0640\u06D6-\u06ED]/g, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replaceAll('ى', 'ي')
    .replaceAll('ة', 'ه')
    .replaceAll('ؤ', 'و')
    .replaceAll('ئ', 'ي')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

const words = (text: string) => new Set(foldWords(text))

const POLITE = words(
  'please kindly can could would you i me us we want need like to see have get let show give run try start do a an the your of it this for free me just quick من فضلك لو سمحت اريد اعطني ارني شغل جرب ابدا اعمل لي ممكن عايز ابغى',
)
const DEMO = words('demo demonstration تجربه تجريبي تجريبيه ديمو الديمو نموذج')
const DEMO_ALSO = words('sample example عرض مثال مجاني مجانيه')

const VOCABULARY: Readonly<Record<OutcomeId, ReadonlySet<string>>> = {
  'extract-preview': words('preview html markup snippet معاينه المعاينه'),
  'web-extraction': words(
    'extract extraction scrape read page pages article articles website web site content text evidence document استخرج استخراج اقرا صفحه الصفحه مقال المقال موقع الموقع محتوي نص',
  ),
  'product-offers': words(
    'product products offer offers price prices compare comparison cheapest buy shop deal deals cost منتج منتجات المنتج عرض عروض سعر اسعار الاسعار قارن مقارنه ارخص متجر شراء',
  ),
  'feed-digest': words(
    'feed feeds rss atom digest news headlines latest updates خلاصه خلاصات اخبار الاخبار عناوين موجز جديد',
  ),
}

export function understand(text: string): Understanding {
  const said = foldWords(text)
  if (said.length === 0) return { kind: 'nothing' }
  const asked = said.filter((word) => !POLITE.has(word))
  if (asked.some((word) => DEMO.has(word)) && asked.every((word) => DEMO.has(word) || DEMO_ALSO.has(word)))
    return { kind: 'demo' }

  const joined = ` ${said.join(' ')} `
  const named = OUTCOME_IDS.filter((id) => joined.includes(` ${id.replace('-', ' ')} `))
  if (named.length === 1) return { kind: 'capability', capability: named[0]!, exact: true }

  const scores = OUTCOME_IDS.map((id) => {
    const hits = said.filter((word) => VOCABULARY[id].has(word)).length
    // Markup in hand says more than any verb: "extract the text of this HTML" is a preview.
    return id === 'extract-preview' ? hits * 3 : hits
  })
  const best = Math.max(...scores)
  if (best === 0) return { kind: 'nothing' }
  const between = OUTCOME_IDS.filter((_, i) => scores[i] === best)
  return between.length === 1
    ? { kind: 'capability', capability: between[0]!, exact: false }
    : { kind: 'unclear', between }
}
