// HTML that cannot be injected into: every value goes through `html`, which escapes what is not already markup.

export interface Markup {
  readonly markup: string
}

type Value = string | number | Markup | readonly Value[] | undefined | false

/** Template tag: values are escaped, `Markup` is not, lists are joined, `undefined` and `false` are nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { markup: strings.reduce((markup, text, at) => markup + render(values[at - 1]) + text) }
}

function render(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  if ('markup' in value) return value.markup
  return value.map(render).join('')
}

/** A sentence of a document that is Markdown elsewhere: what stands in backticks becomes code. */
export const prose = (text: string): Markup =>
  html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for element content and for attributes in either kind of quotes. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
