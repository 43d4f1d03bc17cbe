// A method that stands in the address or in a form: many frameworks take the request for one of that method, and rules and scopes would be asked
// about another. Headers that say the same are refused in relay/headers.ts.
import { GatewayError } from '../core/errors.ts'
import type { HeaderPairs } from './headers.ts'

/** Rails, Laravel, Symfony and Express; Salesforce; what ASP.NET reads in an address as in a header. */
const NAMES = new Set([
  '_method',
  '_httpmethod',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
])
/** Whatever else stands under these names is no method to anybody. */
const METHODS = new Set('GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT LINK UNLINK'.split(' '))

/** Longer forms are sent while they come, most of them, and nobody reads them here. */
const MOST_FORM_BYTES = 256 * 1024

/** @throws {GatewayError} target_invalid, input_invalid: the name of the parameter is said, and what to do */
export function refuseMethodParameter({
  method,
  search,
  headers,
  body,
}: {
  readonly method: string
  /** Query with its `?`, or empty. */
  readonly search: string
  readonly headers: HeaderPairs
  /** Undefined where it is sent while it comes. */
  readonly body: Buffer | undefined
}): void {
  const inQuery = findOther(search.slice(1), method)
  if (inQuery !== undefined)
    throw new GatewayError('target_invalid', `Leave out the query parameter ${inQuery}: ${WORDS}`, {
      reason: 'method_override',
    })
  const inForm =
    body && body.length <= MOST_FORM_BYTES && isForm(headers)
      ? findOther(body.toString('latin1'), method)
      : undefined
  if (inForm !== undefined)
    throw new GatewayError('input_invalid', `/body: leave out the field ${inForm}: ${WORDS}`, {
      reason: 'method_override',
    })
}

const WORDS = 'send the request with the method that is meant, which is the one that is checked.'

/** Without a type frameworks take a body for a form, too. */
const isForm = (headers: HeaderPairs) =>
  /^(?:application\/x-www-form-urlencoded\b|$)/i.test(
    (headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '').trim(),
  )

/** Servers differ in what separates parameters, and PHP reads dots and blanks in a name as underscores. */
function findOther(text: string, method: string): string | undefined {
  for (const pair of text.split(/[&;]/))
    for (const [name, value] of new URLSearchParams(pair)) {
      const known = [name.trim(), name.trim().replaceAll(/[. ]/g, '_')]
        .map((spelling) => spelling.toLowerCase())
        .find((spelling) => NAMES.has(spelling))
      const given = value.trim().toUpperCase()
      if (known !== undefined && given !== method && METHODS.has(given)) return known
    }
  return undefined
}
