// What stops an agent does not wait until the agent stops: under executions without a pause, on every engine.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/ports.ts'
import { expectSound } from '../support/sound.ts'
import { createPlace, ENGINES, NOW, type Place, times } from '../support/store.ts'
import { addGrant, addPermit, BOOT, execution, type Grant } from '../support/store-actions.ts'

const PERMITS = 320
/** Each executes one permit after the other. */
const WORKERS = 16

describe.each(ENGINES)('amid executions in %s', (engine) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await createPlace(engine, 'revocation')
    store = await place.open(BOOT)
  })
  afterEach(() => expectSound(place))
  afterAll(() => place.remove())

  it.each<[string, (grant: Grant) => Promise<unknown>, string]>([
    [
      'a mandate is revoked',
      ({ mandate: { id }, accountId }) => store.revokeMandate({ id, accountId, now: NOW }),
      'mandate_gone',
    ],
    [
      'a credential is revoked',
      ({ credentialId: id, accountId }) => store.revokeCredential({ id, accountId, now: NOW }),
      'credential_gone',
    ],
    [
      'a credential is replaced',
      async ({ credentialId: id, accountId }) => {
        const { sealed } = (await store.getCredential(id, accountId))!
        return store.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
      },
      'credential_changed',
    ],
  ])('%s without waiting for their end', async (_, stop, refusal) => {
    const grant = await addGrant(store, PERMITS, { maxCalls: PERMITS })
    // As many at once as execute them later: all at once wait for a connection longer than they may on a busy machine.
    const permits: Awaited<ReturnType<typeof addPermit>>[] = []
    while (permits.length < PERMITS)
      permits.push(...(await Promise.all(times(WORKERS, () => addPermit(store, grant)))))
    let executed = 0
    let stopping: Promise<number> | undefined
    const answers = new Set<string>()
    await Promise.all(
      times(WORKERS, async () => {
        for (let permit = permits.pop(); permit; permit = permits.pop()) {
          const result = await store.reserveAction(execution(permit))
          answers.add(result.ok ? 'ok' : result.reason)
          if (!result.ok) continue
          executed++
          if (executed === 2 * WORKERS) stopping = stop(grant).then(() => executed)
        }
      }),
    )
    expect([...answers]).toEqual(['ok', refusal])
    // Those under way when it was asked for, and those that came in while it was written down.
    expect(await stopping).toBeLessThan(PERMITS / 2)
  })
})
