// A process that stands still for longer than its lease lasts, and goes on: it begins nothing, and ends nothing that another has settled by then.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { addSetting, createPlace, NOW, sumOfLedger, unbalancedAccounts } from '../support/store.ts'
import { USELESS_LOCKS, withUselessLocks } from '../support/useless-locks.ts'

const told = new URL('../support/store-told.ts', import.meta.url).pathname
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts one that does as it is told. */
async function start(input: object) {
  const child = spawn(process.execPath, [told, JSON.stringify(input)], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => (await lines.next()).value as string
  expect(await answer()).toBe('open')
  return {
    child,
    answer,
    tell: (verb: string) => child.stdin.write(`${verb}\n`),
    ask(verb: string) {
      child.stdin.write(`${verb}\n`)
      return answer()
    },
  }
}

describe.each(USELESS_LOCKS)('with advisory locks that are %s', (how) => {
  it.each([
    ['reserved', [], 'refunded'],
    ['sent', ['send'], 'ambiguous'],
  ])('doubles nothing that it had %s', async (_, before, state) => {
    const place = await createPlace('postgres', 'stopped', (url) => withUselessLocks(url, how))
    try {
      const store = await place.open('boot-other')
      const setting = await addSetting(store, 10)
      const { dataDir, databaseUrl } = place.config
      const stopped = await start({ dataDir, databaseUrl, setting, bootId: 'boot-stopped' })
      expect(await stopped.ask('reserve')).toBe('true')
      for (const verb of before) expect(await stopped.ask(verb)).toBe('true')

      stopped.child.kill('SIGSTOP')
      expect(await store.recoverAttempts({ bootId: 'boot-other', now: NOW })).toEqual({
        refunded: [],
        ambiguous: [],
      })
      // Told while it stands still: what it does first when it goes on.
      stopped.tell('reserve')
      const recovered = { refunded: 0, ambiguous: 0 }
      await expect
        .poll(
          async () => {
            const { refunded, ambiguous } = await store.recoverAttempts({ bootId: 'boot-other', now: NOW })
            recovered.refunded += refunded.length
            recovered.ambiguous += ambiguous.length
            return recovered.refunded + recovered.ambiguous
          },
          { interval: 500 },
        )
        .toBe(1)
      expect(recovered).toMatchObject({ [state]: 1 })
      // It renews its lease as soon as it goes on: not before this was looked at.
      await place.query('ALTER TABLE process_leases RENAME TO taken_away')
      stopped.child.kill('SIGCONT')
      expect(await stopped.answer()).toBe('lease lost')
      await place.query('ALTER TABLE taken_away RENAME TO process_leases')
      // The attempt is not its own any more, also where its lease is back by now.
      for (const verb of ['send', 'finish']) expect(await stopped.ask(verb)).toBe('false')
      await expect.poll(() => stopped.ask('reserve')).toBe('true')
      expect(await store.recoverAttempts({ bootId: 'boot-other', now: NOW })).toEqual({
        refunded: [],
        ambiguous: [],
      })
      for (const verb of ['send', 'finish']) expect(await stopped.ask(verb)).toBe('true')
      expect(await store.balance(setting.accountId)).toBe(state === 'refunded' ? 9 : 8)
      expect(await sumOfLedger(place)).toBe(0)
      expect(await unbalancedAccounts(place)).toEqual([])
      stopped.child.stdin.end()
      expect(await once(stopped.child, 'exit')).toEqual([0, null])
    } finally {
      await place.remove()
    }
  })
})
