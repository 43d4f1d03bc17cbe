// Places are paths of names that a stranger chose: a name that could be more than a name is left out of every answer.
import type { Place } from '../ports.ts'
import { findNumber } from './cards.ts'
import { scanSecrets } from './scan.ts'

const NAME_MAX_CHARS = 80
const HIDDEN_NAME = '*'
/** Words are not that long without a separator, and hold no digits among capitals. */
const PLAIN_NAME = /^[a-z0-9._~$@#-]{0,24}$|^[A-Za-z._~$@#-]{0,64}$/

/** A place without the names in it that could be more than names. */
export const hideNames = (place: Place): Place => place.split('/').map(hideName).join('/')

/** @param segment between two `/` of a pointer */
export const hideName = (segment: string): string =>
  segment.length > NAME_MAX_CHARS || isSuspect(segment) ? HIDDEN_NAME : segment

function isSuspect(segment: string): boolean {
  if (PLAIN_NAME.test(segment) && !/\d{12}/.test(segment)) return false
  const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  if (findNumber(name, true) !== undefined) return true
  return scanSecrets([{ value: name, name: '', isName: true }]).found.length > 0
}
