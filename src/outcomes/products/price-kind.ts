// What a stated price is for, where it is not for one piece, once: a kilogram, a dozen, a month, an instalment, members. Decides
// the label only; the amounts are read elsewhere.
import type { OtherPrice } from '../../../schemas/product-offers.ts'
import { type Graph, nodesAt } from '../structured/graph.ts'
import { isNode, listOf, type Node, own, scalarOf, textAt, typesOf, valuesOf } from '../structured/node.ts'

/** The label of a price that is not the price of one piece. */
export interface PriceTerms {
  readonly kind: OtherPrice['kind']
  /** What it buys, such as `1 KGM` or `P1M`, as far as that is stated. */
  readonly per: string | null
}

const words = (list: string) => new Set(list.split(' '))

// UN/CEFACT codes and what people write instead.
const MEASURES = words(
  'kgm grm mgm dg dtn tne ltr mlt clt dlt hlt mtr cmt mmt dmt mtk cmk mtq onz lbr apz fot yrd inh gll gli pti qti oza ftk ydk kwh ' +
    'kg kilo kilos kilogram kilograms kilogramm kilogramme g gr gram grams gramm gramme mg l lt ltr. liter liters litre litres litro litros ' +
    'ml cl dl m cm mm meter meters metre metres metro mètre m2 m² qm sqm m3 m³ oz ounce lb lbs pound ft foot yd yard gal gallon sqft ' +
    'кг г гр л мл м м2 м² كجم كغ كيلو غرام جرام لتر مل متر キログラム グラム リットル 公斤 升',
)
const TIMES = words(
  'mon month months monthly ann year years yearly annual annually wee week weeks weekly day days daily hur hour hours qan quarter ' +
    'mo mth yr wk monat monate monatlich jahr jahre jährlich woche mois an année mes meses mese mesi anno año mês ano ay yıl maand jaar ' +
    'månad mån måned md år kk kuukausi miesiąc mies rok měsíc měs мес месяц год شهر شهريا شهرياً سنة سنويا سنوياً 月 年 ヶ月 か月 月額 年額 개월 월',
)
/** A price of so many of a measure is a base price; of another number it is the price of a pack of that size. */
const BASES = new Set(['1', '10', '100', '1000'])

const isMeasure = (unit: string) => MEASURES.has(unit.toLowerCase())
const isTime = (unit: string) => TIMES.has(unit.toLowerCase())

/** The terms that an offer or a specification of its price states; undefined for the price of one piece. */
export function readPriceTerms(node: Node, graph: Graph): PriceTerms | undefined {
  const component = textOf(node, 'priceComponentType')
  if (/Delivery|PaymentCharge/.test(typesOf(node).join(' ')) || component.endsWith('Fee'))
    return { kind: 'fee', per: null }
  if (valuesOf(node, 'validForMemberTier').length > 0) return { kind: 'member', per: null }
  if (/Installment|Downpayment/i.test(component)) return { kind: 'instalment', per: null }
  if (/LeaseOut$/i.test(textOf(node, 'businessFunction'))) return { kind: 'rental', per: null }
  return (
    readBilling(node, component + textOf(node, 'priceType')) ?? readUnit(node, graph) ?? readBulk(node, graph)
  )
}

const textOf = (node: Node, key: string): string =>
  valuesOf(node, key)
    .map((value) => scalarOf(value) ?? (isNode(value) ? scalarOf(own(value, '@id')) : undefined) ?? '')
    .join(' ')
    .slice(0, 200)
    .trim()

const unitOf = (node: Node): string =>
  (textAt(node, ['unitCode'], 20) ?? textAt(node, ['unitText'], 20) ?? '').trim()

function readBilling(node: Node, type: string): PriceTerms | undefined {
  const duration = valuesOf(node, 'billingDuration')[0]
  const length = scalarOf(duration) ?? (isNode(duration) ? (textAt(duration, ['value'], 20) ?? '') : '')
  const unit = (isNode(duration) ? unitOf(duration) : '') || unitOf(node)
  const isBilled = duration !== undefined || /Subscription/i.test(type) || isTime(unit)
  if (!isBilled) return undefined
  return { kind: 'subscription', per: `${length} ${isTime(unit) ? unit : ''}`.trim().slice(0, 40) || null }
}

function readUnit(node: Node, graph: Graph): PriceTerms | undefined {
  const [quantity] = listOf(own(node, 'referenceQuantity')).map((value) => graph.deref(value))
  if (isNode(quantity)) {
    // With a base beside it the quantity is the size of the pack, and the price is that of the pack.
    if (nodesAt(graph, quantity, 'valueReference').length > 0) return undefined
    return unitTerms(textAt(quantity, ['value'], 20) ?? '1', unitOf(quantity))
  }
  const [value, unit] = /^([\d.]{0,10})\s?(\S{1,20})$/.exec(scalarOf(quantity) ?? '')?.slice(1) ?? []
  return unitTerms(value || '1', unit ?? unitOf(node))
}

function unitTerms(value: string, unit: string): PriceTerms | undefined {
  if (isTime(unit)) return { kind: 'subscription', per: `${value} ${unit}` }
  return isMeasure(unit) && BASES.has(value.replace(/\.0+$/, ''))
    ? { kind: 'unit', per: `${value} ${unit}` }
    : undefined
}

/** From so many pieces on. */
function readBulk(node: Node, graph: Graph): PriceTerms | undefined {
  const [quantity] = listOf(own(node, 'eligibleQuantity')).map((value) => graph.deref(value))
  const least = isNode(quantity) ? textAt(quantity, ['minValue', 'value', '@value'], 20) : scalarOf(quantity)
  return least && Number(least) > 1 ? { kind: 'bulk', per: least } : undefined
}

const UNIT_WORDS = alternatives(MEASURES)
const TIME_WORDS = alternatives(TIMES)
const PER = String.raw`(?:\/|／|(?<!\p{L})(?:per|pro|je|par|al|por|za|på|pr|im|an|a|each|every|за|в|لكل|كل|في|每|毎)(?!\p{L})\.?)`
const PER_UNIT = new RegExp(String.raw`${PER}\s{0,2}(\d{0,4}\s{0,2}(?:${UNIT_WORDS}))(?![\p{L}\p{N}])`, 'iu')
const PER_TIME = new RegExp(
  String.raw`${PER}\s{0,2}(\d{0,2}\s{0,2}(?:${TIME_WORDS}))(?![\p{L}\p{N}])|(?<!\p{L})(monthly|yearly|annually|monatlich|mtl|jährlich|aylık|yıllık|mensuel|miesięcznie|mensual|mensile|شهري|月額|年額|毎月|每月)`,
  'iu',
)
const INSTALMENT =
  /(?<![\p{L}\p{N}])\d{1,2}\s?[x×]\s?(?:de\s|à\s|da\s)?(?:\p{Sc}|[A-Z]{1,3}\$?)?\s?\d|(?<![\p{L}\p{N}])[x×]\s?\d{1,2}(?!\d)|(?<!\p{L})(?:instal{1,2}ments?|raten?zahlung|raten?|taksit|cuotas?|parcelas?|mensualités?|rate da|mensualidades|финансир|рассрочк|分割|قسط|أقساط)(?!\p{L})/iu

function alternatives(list: ReadonlySet<string>): string {
  return [...list]
    .sort((one, other) => other.length - one.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('|')
}

/** The terms that stand with a price in a text that people read: `12,90 €/kg`, `9.99 per month`. */
export function readShownTerms(text: string): PriceTerms | undefined {
  const start = text.slice(0, 200)
  const time = PER_TIME.exec(start)
  if (time) return { kind: 'subscription', per: time[1]?.trim() ?? time[2] ?? null }
  const unit = PER_UNIT.exec(start)
  if (unit) return { kind: 'unit', per: unit[1]?.trim() ?? null }
  return INSTALMENT.test(start) ? { kind: 'instalment', per: null } : undefined
}
