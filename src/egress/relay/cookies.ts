// Cookies of an unmodified program where the credential is a cookie itself. The program's others pass both ways, where its settings say so; the one
// that holds the secret is the gateway's alone: a program neither sends it nor learns which session took its place.
import type { Placement } from '../../../schemas/credential-settings.ts'

type Named = (name: string) => boolean

/** Whether a cookie of this name is where a secret goes, as the most lenient servers read names: of any case, encoded, quoted, with `.` for `_`. */
export function cookiesOf(placements: readonly Placement[]): Named {
  const own = new Set(placements.flatMap((one) => (one.in === 'cookie' ? [read(one.name)] : [])))
  return (name) => own.size > 0 && own.has(read(name))
}

function read(name: string): string {
  const bare = decode(name.trim()).replaceAll('"', '').trim().toLowerCase()
  // PHP takes `sid[a]` for a list of the name `sid`.
  const [before = ''] = bare.split('[')
  return before.replaceAll(/[^a-z0-9]/g, '_')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A name stands before `=`; browsers send a cookie without one, `=sid=1`, as `sid=1`. */
const nameIn = (pair: string) => pair.replace(/^[\s=]+/, '').split('=', 1)[0] ?? ''

/** @returns a Cookie header without the pairs that are the gateway's; some servers take a comma for the end of a pair, too */
export const withoutCookies = (header: string, isOwn: Named): string =>
  header
    .split(';')
    .filter((pair) => !pair.split(',').some((part) => isOwn(nameIn(part))))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .join('; ')

/** Whether a Set-Cookie header sets one that is the gateway's; several in one header are parted by commas. */
export const setsCookie = (header: string, isOwn: Named): boolean =>
  header.split(',').some((part) => isOwn(nameIn(part.split(';', 1)[0] ?? '')))
