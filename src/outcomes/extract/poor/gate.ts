// Tells a page that is one form by what the form asks for: a password, letters of a picture, a date of birth. That is the same in every
// language. Where more is said beside the form, or it asks for more, it belongs to a page and is none itself.
import { wordsOfEdges } from '../boilerplate.ts'
import type { Element, ParsedPage } from '../tree.ts'

export type Gate = 'captcha' | 'login_wall' | 'age_gate'

/** A longer page says something, whatever it asks. */
const MAX_WORDS = 60
/** So many words may stand beside the form. A forum has its box for members on each page, so beside one there are fewest. */
const MAX_BESIDE: Readonly<Record<Gate, number>> = { captcha: 30, age_gate: 20, login_wall: 12 }

const EDGES = new Set(['header', 'footer', 'nav', 'aside', 'dialog'])
const NO_FIELD = new Set(['hidden', 'submit', 'button', 'image', 'reset', 'checkbox', 'radio'])
const CAPTCHA = /captcha/i
const BIRTH = /(?:^|[\W_])(?:dob|birth\w*|age|geburt\w*|naissance|nacimiento|nascita|nascimento)(?:$|[\W_])/i

/** @param html the source of `page`, whose tree has no fields */
export function findGate(html: string, page: ParsedPage): Gate | undefined {
  const words = page.root.words - wordsOfEdges(page.root)
  const forms = page.all.filter(({ name }) => name === 'form')
  if (words > MAX_WORDS || forms.length === 0) return undefined
  const sources = html
    .split(FORM)
    .slice(1)
    .map((source) => source.split(FORM_END, 1)[0] ?? '')
  // Scripts and comments may hold forms as well: then it is not known which is which.
  if (sources.length !== forms.length) return undefined
  const own = forms.flatMap((form, i) => (standsInEdge(form) ? [] : [{ form, parts: partsOf(sources[i]!) }]))
  const [only] = own
  if (!only || own.length > 1) return undefined
  const gate = gateOf(only.parts)
  return gate !== undefined && words - only.form.words <= MAX_BESIDE[gate] ? gate : undefined
}

const FORM = /<form(?=[\s>])/i
const FORM_END = /<\/form/i
const PART = /<(input|select|textarea|img)(?=[\s/>])([^<>]{0,500})/gi
const NAMED = /(?:^|\s)(?:name|id|class|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi
const TYPE = /(?:^|\s)type\s*=\s*["']?(\w+)/i

interface Part {
  readonly name: string
  readonly type: string
  /** What it is called, and where its picture comes from. */
  readonly names: readonly string[]
}

const partsOf = (source: string): Part[] =>
  [...source.matchAll(PART)].map(([, name = '', attributes = '']) => ({
    name: name.toLowerCase(),
    type: TYPE.exec(attributes)?.[1]?.toLowerCase() ?? 'text',
    names: [...attributes.matchAll(NAMED)].map(([, double, single, bare]) => double ?? single ?? bare ?? ''),
  }))

/** In the head, the foot or a menu of the page. */
function standsInEdge(element: Element): boolean {
  for (let at = element.parent; at; at = at.parent) if (EDGES.has(at.name)) return true
  return false
}

const isField = ({ name, type }: Part) => name !== 'img' && !(name === 'input' && NO_FIELD.has(type))

function gateOf(parts: readonly Part[]): Gate | undefined {
  const fields = parts.filter(isField)
  const isNamed = (pattern: RegExp) => (part: Part) => part.names.some((name) => pattern.test(name))
  if (fields.length === 0) return undefined
  if (fields.some(({ type }) => type === 'password')) return 'login_wall'
  if (fields.length === 1 && parts.some(isNamed(CAPTCHA))) return 'captcha'
  return fields.every(isNamed(BIRTH)) ? 'age_gate' : undefined
}
