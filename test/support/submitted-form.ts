// What a browser would send of a form that is drawn like this (HTML, section 4.10.22.4): the controls in their order, each under its name.
import { parseHTML } from 'linkedom'

/** @param html the controls of a form */
export function submittedBy(html: string): [name: string, value: string][] {
  const { document } = parseHTML(`<!doctype html><html><body><form>${html}</form></body></html>`)
  const entries: [string, string][] = []
  for (const control of document.querySelectorAll('input, textarea, select')) {
    const name = control.getAttribute('name')
    if (!name || control.hasAttribute('disabled')) continue
    const value = valueOf(control)
    if (value !== undefined) entries.push([name, value.replaceAll(/\r\n|\r|\n/g, '\r\n')])
  }
  return entries
}

function valueOf(control: Element): string | undefined {
  switch (control.tagName) {
    case 'TEXTAREA':
      return decoded(control.textContent ?? '').replace(/^\n/, '')
    case 'SELECT': {
      const options = [...control.querySelectorAll('option')]
      const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0]
      return chosen?.getAttribute('value') ?? chosen?.textContent ?? undefined
    }
    default: {
      const type = control.getAttribute('type')
      if (type === 'checkbox' && !control.hasAttribute('checked')) return undefined
      // A line has no line breaks, whatever its attribute says.
      return (control.getAttribute('value') ?? '').replaceAll(/[\r\n]/g, '')
    }
  }
}

/** This parser leaves what stands in an area as it is written, where a browser decodes it. */
const decoded = (text: string) =>
  text.replaceAll(/&(lt|gt|quot|amp);/g, (_all, name: string) => CHARACTERS[name] ?? '')
const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' }
