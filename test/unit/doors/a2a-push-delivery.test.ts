import { createSecretKey } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { openProof, sealProof } from '../../../src/doors/a2a/push-config.ts'
import { createPushDelivery, PAUSES_S, type PushDelivery } from '../../../src/doors/a2a/push-delivery.ts'
import type { KnownTask } from '../../../src/doors/a2a/task-store.ts'
import { newId } from '../../../src/lib/ids.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { NewPushConfig } from '../../../src/store/ports.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const COMPLETED = 'TASK_STATE_COMPLETED'
let temp: TempStore
let delivery: PushDelivery
let clock = 1_000_000
/** What each request is answered with; pending ones are ended by `answer`. */
let post: (url: string, signal: AbortSignal) => Promise<string | undefined>
let posted: string[]
let underWay: number
let mostUnderWay: number
let looks = 0
let goneTask: string | undefined
const readTask = vi.fn(async (id: string): Promise<KnownTask> => {
  if (id === goneTask) throw new TaskNotFoundError('gone')
  const task = { id, contextId: 'c', status: { state: COMPLETED, timestamp: '' } } as const
  return { task, revision: 1, owner: null, phase: 'ended' }
})

function open(): void {
  const { store } = temp
  delivery = createPushDelivery({
    store: {
      engine: 'sqlite',
      finishPush: store.finishPush,
      listSilentPushTasks: store.listSilentPushTasks,
      takePushes: (input) => (looks++, store.takePushes(input)),
    },
    readTask,
    write({ id }) {
      if (id === 'unwritable') throw new Error('sealed by another key')
      return { body: id, headers: [] }
    },
    async post({ url, signal }) {
      posted.push(url)
      mostUnderWay = Math.max(mostUnderWay, ++underWay)
      return post(url, signal ?? new AbortController().signal).finally(() => underWay--)
    },
    log: createLogger('silent'),
    now: () => clock,
  })
}

const made: NewPushConfig[] = []
/** A task, in a state that its client was not told. */
async function add(over: Partial<NewPushConfig> & { state?: string } = {}): Promise<NewPushConfig> {
  const { state = COMPLETED, ...rest } = over
  const taskId = newId('task', clock)
  const row = { id: taskId, contextId: 'c', owner: null, state, revision: 1, json: '{}' }
  await temp.store.saveTask({ ...row, updatedAt: clock, expiresAt: clock + 24 * 3600_000 })
  const url = rest.url ?? 'https://a.example/'
  const config = {
    taskId,
    id: 'one',
    holder: 'acct_1',
    url,
    host: new URL(url).host,
    scheme: null,
    sealed: null,
    wire: '1.0' as const,
    toldState: null,
    toldRevision: 0,
    createdAt: clock,
    ...rest,
  }
  made.push(config)
  await temp.store.savePushConfig({ config, limits: { perTask: 9, perHolder: 999 } })
  return config
}
const rowOf = async ({ taskId }: NewPushConfig) => (await temp.store.listPushConfigs(taskId))[0]
const never = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('timeout')))

describe('telling clients of their tasks', () => {
  beforeAll(async () => {
    temp = await openTempStore()
  })
  afterAll(() => temp.close())
  beforeEach(() => {
    ;[posted, underWay, mostUnderWay, looks, goneTask] = [[], 0, 0, 0, undefined]
    post = async () => undefined
    readTask.mockClear()
    open()
  })
  afterEach(async () => {
    await delivery.close()
    for (const { taskId, id } of made.splice(0)) await temp.store.deletePushConfig(taskId, id)
  })

  it('goes on for others while one receiver is slow, which has two places', async () => {
    post = (url, signal) => (url.includes('slow') ? never(signal) : Promise.resolve(undefined))
    for (let n = 0; n < 40; n++) await add({ url: 'https://slow.example/', holder: `acct_${n}` })
    clock++
    await add({ url: 'https://quick.example/' })
    delivery.added()
    await vi.waitFor(() => expect(posted).toContain('https://quick.example/'), { timeout: 60_000 })
    expect(posted.filter((url) => url.includes('slow'))).toHaveLength(2)
  })

  it('goes on for others while one client names many slow receivers, which has four places', async () => {
    post = (url, signal) => (url.includes('slow') ? never(signal) : Promise.resolve(undefined))
    for (let n = 0; n < 40; n++) await add({ url: `https://slow-${n}.example/` })
    clock++
    await add({ url: 'https://quick.example/', holder: 'acct_2' })
    delivery.added()
    await vi.waitFor(() => expect(posted).toContain('https://quick.example/'), { timeout: 60_000 })
    expect(posted.filter((url) => url.includes('slow'))).toHaveLength(4)
  })

  it('works off any number, 32 at a time at most', async () => {
    post = () => new Promise((resolve) => setTimeout(() => resolve(undefined), 5))
    for (let n = 0; n < 90; n++) await add({ url: `https://h${n}.example/`, holder: `acct_${n}` })
    delivery.added()
    await vi.waitFor(() => expect(posted).toHaveLength(90), { timeout: 60_000 })
    expect(new Set(posted).size).toBe(90)
    expect(mostUnderWay).toBeLessThanOrEqual(32)
  })

  it('tries six times, later and later, and then no more', async () => {
    post = async () => 'status_500'
    const config = await add()
    for (const [index, seconds] of PAUSES_S.entries()) {
      delivery.added()
      await vi.waitFor(
        async () =>
          expect(await rowOf(config)).toMatchObject({
            tries: index + 1,
            nextAt: clock + seconds * 1000,
            problem: 'status_500',
          }),
        { timeout: 60_000 },
      )
      clock += seconds * 1000
    }
    delivery.added()
    await vi.waitFor(async () => expect(await rowOf(config)).toMatchObject({ tries: 6, nextAt: null }), {
      timeout: 60_000,
    })
    clock += 3600_000
    delivery.added()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(posted).toHaveLength(6)
  })

  it('sends nothing more to a receiver that says it is gone', async () => {
    post = async () => 'status_410'
    const config = await add()
    delivery.added()
    await vi.waitFor(
      async () => expect(await rowOf(config)).toMatchObject({ nextAt: null, problem: 'status_410' }),
      { timeout: 60_000 },
    )
  })

  it('leaves what it was telling, when it closes, to whoever comes next', async () => {
    post = (_url, signal) => never(signal)
    const config = await add()
    delivery.added()
    await vi.waitFor(() => expect(posted).toHaveLength(1), { timeout: 60_000 })
    await delivery.close()
    expect(await rowOf(config)).toMatchObject({ tries: 0, nextAt: clock })
    post = async () => undefined
    open()
    delivery.added()
    await vi.waitFor(
      async () => expect(await rowOf(config)).toMatchObject({ toldState: COMPLETED, nextAt: null }),
      { timeout: 60_000 },
    )
  })

  it('asks the store nothing, however many tasks change, while nobody wants to be told', async () => {
    delivery.changed()
    await vi.waitFor(() => expect(looks).toBe(1), { timeout: 60_000 })
    await new Promise((resolve) => setTimeout(resolve, 40))
    for (let n = 0; n < 100; n++) delivery.changed()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(looks).toBe(1)
  })

  it('looks once for many changes that come together', async () => {
    await add({ state: 'TASK_STATE_WORKING', toldState: 'TASK_STATE_WORKING', toldRevision: 1 })
    for (let n = 0; n < 100; n++) delivery.changed()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(looks).toBeLessThanOrEqual(2)
  })

  it('reads tasks whose process went silent, which ends them', async () => {
    const told = { state: 'TASK_STATE_WORKING', toldState: 'TASK_STATE_WORKING', toldRevision: 1 }
    const { taskId } = await add(told)
    clock++
    delivery.added()
    await vi.waitFor(() => expect(readTask).toHaveBeenCalledWith(taskId, 'acct_1'), { timeout: 60_000 })
    expect(posted).toEqual([])
  })

  it('gives up what it cannot write or whose task is gone, and tells the others', async () => {
    const sealed = await add({ id: 'unwritable', url: 'https://b.example/' })
    const gone = await add({ url: 'https://c.example/' })
    goneTask = gone.taskId
    const other = await add()
    delivery.added()
    await vi.waitFor(async () => expect(await rowOf(other)).toMatchObject({ nextAt: null, problem: null }), {
      timeout: 60_000,
    })
    await vi.waitFor(
      async () => expect(await rowOf(sealed)).toMatchObject({ nextAt: null, problem: 'unwritable' }),
      { timeout: 60_000 },
    )
    await vi.waitFor(async () => expect(await rowOf(gone)).toMatchObject({ problem: 'no_task' }), {
      timeout: 60_000,
    })
  })
})

describe('what proves us to a receiver', () => {
  const key = createSecretKey(Buffer.alloc(32, 7))
  const bound = { taskId: 'task_1', id: 'one', url: 'https://a.example/hook', scheme: 'Bearer' }
  const proof = { token: 'tok-secret', credentials: 'cred-secret' }
  const sealed = sealProof(key, new Secret(proof), bound)

  it('opens for the row that it was sealed for, and says nothing as it lies there', () => {
    expect(openProof(key, sealed, bound)).toEqual(proof)
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret')
    expect(sealProof(key, new Secret(proof), bound)).not.toBe(sealed)
  })

  it.each([
    ['another task', key, { ...bound, taskId: 'task_2' }],
    ['another name', key, { ...bound, id: 'two' }],
    ['another address', key, { ...bound, url: 'https://evil.example/' }],
    ['another scheme', key, { ...bound, scheme: 'Basic' }],
    ['another key', createSecretKey(Buffer.alloc(32, 8)), bound],
  ])('opens for no row with %s', (_what, with_, of) => {
    expect(() => openProof(with_, sealed, of)).toThrow()
  })
})
