// Where an answer leads, as the program behind a base URL has to read it. To the upstream a path begins at its own host; behind a base URL it would
// begin at the gateway: another credential, or a tool, called with the program's capability by the word of an upstream.
import type { HeaderPairs } from '../../egress/headers.ts'

/** Characters that all that leads somewhere may get longer by: an upstream has room for thousands of links, and each gets the way up a long path. */
const MOST_LONGER = 32 * 1024

/** Stands for the upstream where nothing says which it is; nobody has this name (RFC 6761). */
const UPSTREAM = 'https://upstream.invalid'

/** How a program reaches the upstream by a base URL. */
export interface Through {
  /** Origin of the upstream: `https://api.github.com`. */
  readonly origin: string
  /** The base URL, with its host and without a slash at its end. Undefined where the program came by a name that need not lead it back. */
  readonly base: string | undefined
}

/**
 * @param behind path that stood behind the name of the credential, as the program wrote it
 * @param own hosts of the gateway, with their ports
 * @param through undefined where nothing says which upstream it is
 * @returns paths and addresses of the upstream relative to `behind`, so that they lead to the same place at every address the program may
 * know; of those that were absolute the address behind the base URL, as libraries turn pages and go on with an upload by nothing else; no
 * address of the gateway itself; and nothing behind what makes them longer than MOST_LONGER
 */
export function keepWithin(
  headers: HeaderPairs,
  behind: string,
  own: readonly string[],
  through?: Through,
): HeaderPairs {
  let room = MOST_LONGER
  const lead = (value: string): string | undefined => {
    const led = room < 0 ? undefined : leadOne(value)
    if (led !== undefined) room -= Math.max(0, led.length - value.length)
    return room < 0 ? undefined : led
  }
  const leadOne = (value: string): string | undefined => {
    const to = URL.parse(value, UPSTREAM + behind)
    if (!to || own.includes(to.host)) return undefined
    if (to.origin === UPSTREAM) return relative(to, behind)
    if (to.origin !== through?.origin) return readsAlike(value, to) ? value : to.href
    return through.base === undefined ? relative(to, behind) : through.base + pathOf(to)
  }
  return headers.flatMap(([name, value]) => {
    if (name !== 'location' && name !== 'link') return [[name, value] as const]
    const led = name === 'link' ? leadLinks(value, lead) : lead(value)
    return led === undefined ? [] : [[name, led] as const]
  })
}

const WRITTEN_OUT = /^https?:\/\/([a-z\d.-]+|\[[\da-f:.]+\])(?::\d+)?(?:\/[\x21-\x7e]*)?$/i

/**
 * Whether every library reads the same host in it, so that it may go on as it was written: a signature may be over just that. `http:/x` is a
 * path to one that is at `http:` itself, and what stands before an `@`, behind a backslash or in other numbers is a host to some.
 */
const readsAlike = (value: string, { hostname }: URL): boolean =>
  WRITTEN_OUT.exec(value)?.[1]?.toLowerCase() === hostname

/** Links of a header field: those that lead nowhere stay out, and what is none stays out with them. */
function leadLinks(value: string, lead: (value: string) => string | undefined): string | undefined {
  const links = [...readLinks(value)].flatMap(({ target, parameters }) => {
    const led = lead(target)
    return led === undefined ? [] : [`<${led}>${parameters.trimEnd()}`]
  })
  return links.length === 0 ? undefined : links.join(', ')
}

interface Link {
  readonly target: string
  readonly parameters: string
}

/** What is said of a link, up to a comma outside of quotes. */
const PARAMETERS = /(?:[^",<>]|"(?:[^"\\]|\\.)*")*/y

/** RFC 8288, 3. Read once, from its beginning to its end: an upstream chooses what it is and how long. */
function* readLinks(value: string): Generator<Link> {
  for (let at = 0; ;) {
    const close = value.indexOf('>', at)
    if (close < 0) return
    const before = value.slice(at, close)
    const open = before.lastIndexOf('<')
    at = close + 1
    if (open < 0) continue
    PARAMETERS.lastIndex = at
    const [parameters = ''] = PARAMETERS.exec(value) ?? []
    yield { target: before.slice(open + 1), parameters }
    at += parameters.length
    // A quote that nothing closes: what is behind it is in it, and no link.
    if (value[at] === '"') return
  }
}

const pathOf = ({ pathname, search, hash }: URL) => pathname + search + hash

function relative(to: URL, behind: string): string {
  const [path = '/'] = behind.split('?', 1)
  const above = path.split('/').length - 2
  return (above > 0 ? '../'.repeat(above) : './') + pathOf(to).slice(1)
}
