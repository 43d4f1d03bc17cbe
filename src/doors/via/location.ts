// Where an answer leads, as the program behind a base URL has to read it. To the upstream a path begins at its own host; behind a base URL it would
// begin at the gateway: another credential, or a tool, called with the program's capability by the word of an upstream.
import type { HeaderPairs } from '../../egress/headers.ts'

/** Stands for the upstream, whose host this door does not know; nobody has this name (RFC 6761). */
const UPSTREAM = 'https://upstream.invalid'

/**
 * @param behind path that stood behind the name of the credential, as the program wrote it
 * @param own hosts of the gateway, with their ports
 * @returns paths of the upstream relative to `behind`, so that they lead to the same place at every address the program may know; no
 * address of the gateway itself
 */
export function keepWithin(headers: HeaderPairs, behind: string, own: readonly string[]): HeaderPairs {
  const lead = (value: string): string | undefined => {
    const to = URL.parse(value, UPSTREAM + behind)
    if (!to || own.includes(to.host)) return undefined
    return to.origin === UPSTREAM ? relative(to, behind) : to.href
  }
  return headers.flatMap(([name, value]) => {
    if (name !== 'location' && name !== 'link') return [[name, value] as const]
    const led = name === 'link' ? leadLinks(value, lead) : lead(value)
    return led === undefined ? [] : [[name, led] as const]
  })
}

/** Links of a header field (RFC 8288, 3): those that lead nowhere stay out, and what is none stays out with them. */
function leadLinks(value: string, lead: (value: string) => string | undefined): string | undefined {
  const links = [...value.matchAll(LINK)].flatMap(([, target = '', parameters = '']) => {
    const led = lead(target)
    return led === undefined ? [] : [`<${led}>${parameters.trimEnd()}`]
  })
  return links.length === 0 ? undefined : links.join(', ')
}
/** Its address, and what is said of it up to a comma outside of quotes. */
const LINK = /<([^<>]*)>((?:[^",<>]|"(?:[^"\\]|\\.)*")*)/g

function relative({ pathname, search, hash }: URL, behind: string): string {
  const [path = '/'] = behind.split('?', 1)
  const above = path.split('/').length - 2
  return (above > 0 ? '../'.repeat(above) : './') + pathname.slice(1) + search + hash
}
