import { expect, it } from 'vitest'
import { createRepetitions } from '../../../src/audit/repetitions.ts'
import type { NewAuditEvent } from '../../../src/store/ports.ts'

const event = (at: number, address = '192.0.2.1', more: Partial<NewAuditEvent> = {}): NewAuditEvent => ({
  chain: 'acct_1',
  at,
  event: 'sign_in.failed',
  actor: { kind: 'anonymous', address, request_id: `req_${at}` },
  ...more,
})

function record() {
  const written: NewAuditEvent[] = []
  const log = createRepetitions(async (events) => void written.push(...events))
  return { written, ...log }
}

it('writes the first at once and its repetitions as a number', async () => {
  const { written, note, flush } = record()
  for (let at = 0; at < 500; at++) await note(event(at))
  expect(written).toEqual([event(0)])
  await flush()
  expect(written).toHaveLength(1)
  await flush(true)
  expect(written.at(-1)).toMatchObject({
    at: 499,
    event: 'sign_in.failed',
    detail: { repeated: 499, since: new Date(0).toISOString() },
  })
})

it('says no number where nothing came again', async () => {
  const { written, note, flush } = record()
  await note(event(0))
  await note(event(1, '192.0.2.2'))
  await note(event(2, '192.0.2.1', { event: 'scope.denied' }))
  await flush(true)
  expect(written).toHaveLength(3)
})

it('writes a minute later what comes again then', async () => {
  const { written, note } = record()
  await note(event(0))
  await note(event(59_999))
  await note(event(60_000))
  expect(written.map(({ at, detail }) => [at, detail?.['repeated']])).toEqual([
    [0, undefined],
    [59_999, 1],
    [60_000, undefined],
  ])
})

it('lets nobody write more than sixty different ones a minute into a chain, and hides nobody else by that', async () => {
  const { written, note, flush } = record()
  for (let i = 0; i < 1000; i++) await note(event(i, `192.0.2.${i}`))
  expect(written).toHaveLength(60)
  await note(event(1000, 'x', { chain: 'acct_2' }))
  expect(written).toHaveLength(61)
  await flush(true)
  expect(written.at(-1)).toMatchObject({
    chain: 'acct_1',
    event: 'refusals.suppressed',
    detail: { count: 940 },
  })
})
