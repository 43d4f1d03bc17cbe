// A method that stands in the address or in a form: many frameworks take the request for one of that method. So scopes and rules are asked about
// the same target under that method, too. Headers that say the same are refused in relay/headers.ts.
import type { HeaderPairs } from './headers.ts'

/** Rails, Laravel, Symfony and Express; Salesforce; what ASP.NET reads in an address as in a header. */
const NAMES = new Set([
  '_method',
  '_httpmethod',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
])
/** Of HTTP, of WebDAV, and of caches. Whatever else stands under these names is no method to anybody. */
const METHODS = new Set(
  (
    'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT LINK UNLINK QUERY PURGE BAN MOVE COPY MKCOL MKACTIVITY MKCALENDAR MKWORKSPACE ' +
    'PROPFIND PROPPATCH LOCK UNLOCK REPORT SEARCH ACL BIND REBIND UNBIND MERGE CHECKIN CHECKOUT UNCHECKOUT VERSION-CONTROL ORDERPATCH'
  ).split(' '),
)

/** Longer forms are sent while they come, most of them, and nobody reads them here. */
const MOST_FORM_BYTES = 256 * 1024

/** A method under which a service may take a request, beside its own. */
export interface OtherMethod {
  readonly method: string
  /** What names it, for whoever is refused. */
  readonly by: string
}

/** @returns undefined where nothing names another one */
export function findOtherMethods({
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
}): readonly OtherMethod[] | undefined {
  const form =
    body && body.length <= MOST_FORM_BYTES && mayBeForm(headers) ? body.toString('latin1') : undefined
  const others = new Map([
    ...namedMethods(search.slice(1), 'query parameter'),
    ...(form === undefined ? [] : namedMethods(form, 'field')),
  ])
  others.delete(method)
  return others.size === 0 ? undefined : Array.from(others, ([other, by]) => ({ method: other, by }))
}

/** Without a type frameworks take a body for a form, too; of several types some take the first, and others the last. */
function mayBeForm(headers: HeaderPairs): boolean {
  const types = headers
    .filter(([name]) => name.toLowerCase() === 'content-type')
    .flatMap(([, value]) => value.split(','))
  return types.length === 0 || types.some((type) => FORM.test(type.trim()))
}
const FORM = /^(?:application\/x-www-form-urlencoded\b|$)/i

/** Part of each of NAMES, as it stands or escaped. A form may have a hundred thousand parameters: one without it is not decoded. */
const MAY_NAME = /(?:m|%[46]d)(?:e|%[46]5)(?:t|%[57]4)(?:h|%[46]8)(?:o|%[46]f)(?:d|%[46]4)/i

/** Servers differ in what separates parameters; PHP reads dots and blanks in a name as underscores, and nothing behind a NUL. */
function* namedMethods(text: string, place: string): Generator<[method: string, by: string]> {
  if (!MAY_NAME.test(text)) return
  for (const pair of text.split(/[&;]/).filter((each) => MAY_NAME.test(each)))
    for (const [name, value] of new URLSearchParams(pair)) {
      const given = beforeNul(name).toLowerCase()
      const known = [given, given.replaceAll(/[. ]/g, '_')].find((spelling) => NAMES.has(spelling))
      const method = beforeNul(value).toUpperCase()
      if (known !== undefined && METHODS.has(method)) yield [method, `${place} ${known}`]
    }
}

const beforeNul = (text: string) => (text.split('\0', 1)[0] ?? '').trim()
