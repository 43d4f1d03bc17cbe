import { expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { createJobs, type Report } from '../../../src/core/jobs.ts'
import { createLogger } from '../../../src/lib/log.ts'

function setUp() {
  const told: { readonly admin: boolean | undefined; readonly data: Record<string, unknown> }[] = []
  let time = 1000
  const lines: string[] = []
  const jobs = createJobs({
    live: { publish: ({ admin }, _topic, data) => void told.push({ admin, data: { ...data } }) },
    log: createLogger('error', { write: (line: string) => void lines.push(line) }),
    now: () => (time += 100),
  })
  return { jobs, told, lines }
}

const what = { kind: 'backup', accountId: 'acct_1', by: 'per_1' }
const settled = () => new Promise((resolve) => setTimeout(resolve, 0))

it('goes on by itself, says how far it is, and is found again by its account alone', async () => {
  const { jobs, told } = setUp()
  let report: Report = () => {}
  let finish: (result: object) => void = () => {}
  const begun = jobs.begin({ ...what, admin: true }, (its) => {
    report = its
    return new Promise<object>((resolve) => (finish = resolve))
  })
  expect(begun).toMatchObject({ state: 'running', done: 0, total: null })
  await settled()
  for (let done = 0; done < 100; done++) report(done, 100)
  expect(jobs.latest('acct_1', 'backup')).toMatchObject({ state: 'running', done: 99, total: 100 })
  expect(jobs.latest('acct_2', 'backup')).toBeUndefined()
  // A page is not told of every step.
  expect(told.length).toBeLessThan(60)
  finish({ file: 'x' })
  await settled()
  report(0, 1)
  expect(jobs.latest('acct_1', 'backup')).toMatchObject({ state: 'done', result: { file: 'x' } })
  expect(told.at(-1)).toMatchObject({ admin: true, data: { state: 'done' } })
  expect(JSON.stringify(told)).not.toContain('file')
})

it('runs once at a time for an account', async () => {
  const { jobs } = setUp()
  let runs = 0
  const work = () => {
    runs++
    return new Promise<object>(() => {})
  }
  const first = jobs.begin(what, work)
  await settled()
  expect(jobs.begin(what, work).id).toBe(first.id)
  jobs.begin({ ...what, accountId: 'acct_2' }, work)
  await settled()
  expect(runs).toBe(2)
})

it('says why it failed where that may be said, and can be begun again', async () => {
  const { jobs, lines } = setUp()
  jobs.begin(what, () => Promise.reject(new GatewayError('store_unavailable', 'The disk is full.')))
  await settled()
  expect(jobs.latest('acct_1', 'backup')).toMatchObject({ state: 'failed', error: 'The disk is full.' })
  jobs.begin(what, () => Promise.reject(new Error('planted words of a driver')))
  await settled()
  expect(JSON.stringify(jobs.latest('acct_1', 'backup'))).not.toContain('planted')
  expect(lines).toHaveLength(1)
})

it('is stopped when the gateway stops', async () => {
  const { jobs, lines } = setUp()
  jobs.begin(what, (_report, signal) => {
    return new Promise<object>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('stopped'))),
    )
  })
  await settled()
  await jobs.close()
  expect(jobs.latest('acct_1', 'backup')).toMatchObject({ state: 'failed' })
  expect(lines).toEqual([])
})
