// One pass over the records: every record key that is under another authority key than the current one is wrapped to that.
// Secrets stay sealed, and requests go on: an old wrap opens until it has become a new one.
import { ConfigError, GatewayError } from '../../core/errors.ts'
import type { Store } from '../../store/ports.ts'
import { KeyFileFault } from '../authority/key-file-fault.ts'
import { KeyServiceError, REWRAPS_AT_ONCE } from '../authority/key-service.ts'
import { wrapBinding } from '../envelope.ts'
import type { Authority } from '../ports.ts'
import { bindingOf } from '../sealing.ts'

export interface RewrapParts {
  readonly store: Pick<Store, 'listWrapsNotUnder' | 'getCredential' | 'replaceWrap'>
  readonly authority: Pick<Authority, 'rewrap'>
}

const BATCH = 100

/**
 * @param kid the current authority key
 * @param onProgress called after every batch with how many it re-wrapped; false ends the pass, since somebody else goes on
 * @returns ids of records that no key opens; undefined where the pass was ended
 * @throws where the key file or the key service is away: nothing is known of the records then
 */
export async function rewrapAll(
  parts: RewrapParts,
  kid: string,
  onProgress: (rewrapped: number) => Promise<boolean>,
): Promise<ReadonlySet<string> | undefined> {
  const { store } = parts
  const broken = new Set<string>()
  const gone = new Set<string>()
  for (;;) {
    const rows = await store.listWrapsNotUnder(kid, BATCH + broken.size + gone.size)
    const pending = rows.filter(({ id }) => !broken.has(id) && !gone.has(id))
    if (pending.length === 0) return broken
    let rewrapped = 0
    while (pending.length > 0) {
      const results = await Promise.all(pending.splice(0, REWRAPS_AT_ONCE).map((row) => rewrap(parts, row)))
      for (const { id, result } of results) {
        if (result === 'broken') broken.add(id)
        if (result === 'gone') gone.add(id)
        if (result === 'rewrapped') rewrapped++
      }
    }
    if (!(await onProgress(rewrapped))) return undefined
  }
}

type Wrap = Awaited<ReturnType<Store['listWrapsNotUnder']>>[number]
interface Rewrapped {
  readonly id: string
  readonly result: 'rewrapped' | 'moved' | 'gone' | 'broken'
}

async function rewrap(
  { store, authority }: RewrapParts,
  { id, accountId, version, wrap }: Wrap,
): Promise<Rewrapped> {
  const credential = await store.getCredential(id, accountId)
  // Deleted between the two reads: there is nothing to open any more.
  if (!credential) return { id, result: 'gone' }
  // Rotated between the two reads: its new wrap comes with the next batch, if it needs one at all.
  if (credential.version !== version) return { id, result: 'moved' }
  try {
    const to = await authority.rewrap(wrap, wrapBinding(bindingOf(credential)))
    return { id, result: (await store.replaceWrap({ id, version, from: wrap, to })) ? 'rewrapped' : 'moved' }
  } catch (thrown) {
    if (thrown instanceof GatewayError || isAway(thrown)) throw thrown
    return { id, result: 'broken' }
  }
}

/** The key file or the key service, and not the record: it opens once that is there again, or its policy is mended. */
const isAway = (thrown: unknown) =>
  thrown instanceof ConfigError ||
  (thrown instanceof KeyFileFault && thrown.reason === 'authority_file') ||
  (thrown instanceof KeyServiceError && (thrown.reason === 'unreachable' || thrown.reason === 'denied'))
