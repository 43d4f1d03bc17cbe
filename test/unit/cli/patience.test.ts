import { expect, it } from 'vitest'
import { CommandFailure } from '../../../src/cli/exit.ts'
import { patiently } from '../../../src/cli/patience.ts'

const limited = (retry_after_seconds?: number) =>
  new CommandFailure(1, 'too many', { code: 'rate_limited', status: 429, retry_after_seconds })

async function after(failures: readonly unknown[]) {
  const waited: number[] = []
  const left = [...failures]
  const answer = patiently(
    async () => {
      const thrown = left.shift()
      if (thrown !== undefined) throw thrown
      return 'done'
    },
    async (ms) => void waited.push(ms),
  )
  return [await answer.catch((thrown: Error) => thrown.message), waited]
}

it('waits as long as it is told and asks again', async () => {
  expect(await after([limited(7), limited(), limited(0)])).toEqual(['done', [7000, 1000, 1000]])
})

it.each([
  ['another refusal', [new CommandFailure(1, 'no', { code: 'admin_required' })], 'no', 0],
  ['a limit of hours', [limited(3600)], 'too many', 0],
  ['a limit that does not end', Array.from({ length: 9 }, () => limited(1)), 'too many', 4],
])('passes on %s', async (_, failures, message, waits) => {
  const [said, waited] = await after(failures)
  expect([said, waited]).toEqual([message, Array.from({ length: waits }, () => 1000)])
})
