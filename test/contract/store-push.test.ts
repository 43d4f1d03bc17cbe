// Where clients want to be told of their tasks, held to the same behaviour on every engine: what is due, who takes it, and when it ends.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import type { Input, NewPushConfig, PushConfig, Store, StoredTask } from '../../src/store/ports.ts'
import { NOW, type Place } from '../support/store.ts'
import { createPlaceWith, PLACES } from '../support/useless-locks.ts'

const HOUR = 3600_000
const [WORKING, WAITING, DONE] = [
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
] as const

describe.each(PLACES)('notifications in %s with locks that are %s', (...kind) => {
  const [engine] = kind
  let place: Place
  let store: Store
  let other: Store
  beforeAll(async () => {
    place = await createPlaceWith(kind, 'push')
    store = await place.open('boot-1')
    // One process holds a file; a database serves several.
    other = engine === 'postgres' ? await place.open('boot-2') : store
  })
  afterAll(() => place.remove())
  const made: NewPushConfig[] = []
  afterEach(async () => {
    await Promise.all(made.splice(0).map(({ taskId, id }) => store.deletePushConfig(taskId, id)))
  })

  let last: StoredTask
  /** The task in another state: the next revision of it. */
  async function move(state: string, over: Partial<StoredTask> = {}, from?: StoredTask): Promise<StoredTask> {
    const revision = (from?.revision ?? 0) + 1
    const row = {
      id: from?.id ?? newId('task', NOW),
      contextId: 'c',
      owner: 'acct_1',
      json: '{}',
      updatedAt: NOW,
      expiresAt: NOW + HOUR,
      ...over,
      state,
      revision,
    }
    expect(await store.saveTask(row)).toBe(true)
    return (last = row)
  }
  const configOf = (over: Partial<NewPushConfig> = {}): NewPushConfig => ({
    taskId: last.id,
    id: 'one',
    holder: 'acct_1',
    url: 'https://a.example/hook',
    host: 'a.example:443',
    scheme: 'Bearer',
    sealed: 'sealed text',
    wire: '1.0',
    toldState: null,
    toldRevision: 0,
    createdAt: NOW,
    ...over,
  })
  const save = (over: Partial<NewPushConfig> = {}, limits = { perTask: 9, perHolder: 9 }) => {
    const config = configOf(over)
    made.push(config)
    return store.savePushConfig({ config, limits })
  }
  const take = async (over: Partial<Input<'takePushes'>> = {}, from = store) =>
    (
      await from.takePushes({
        now: NOW,
        busyUntil: NOW + 60,
        limit: 9,
        share: { perHost: 9, perHolder: 9 },
        busy: [],
        ...over,
      })
    ).taken
  const ids = (taken: readonly PushConfig[]) => taken.map(({ id }) => id)
  const told = (taken: PushConfig, state: string, revision: number, nextAt: number | null = NOW) =>
    store.finishPush({ taken, nextAt, now: NOW, ended: { told: { state, revision } } })

  it('keeps what it was given, the oldest first, and replaces what has the same id', async () => {
    await move(WORKING)
    await save({ id: 'b', createdAt: NOW + 1 })
    await save({ id: 'a', sealed: null, scheme: null, wire: '0.3', createdAt: NOW + 2 })
    await save({ id: 'b', url: 'https://b.example/', host: 'b.example:443' })
    expect(await store.listPushConfigs(last.id)).toEqual([
      { ...configOf({ id: 'b', url: 'https://b.example/', host: 'b.example:443' }), ...FRESH },
      {
        ...configOf({ id: 'a', sealed: null, scheme: null, wire: '0.3', createdAt: NOW + 2 }),
        ...FRESH,
        nextAt: NOW + 2,
      },
    ])
    await store.deletePushConfig(last.id, 'b')
    await store.deletePushConfig(last.id, 'b')
    expect(ids(await store.listPushConfigs(last.id))).toEqual(['a'])
  })
  const FRESH = { tries: 0, nextAt: NOW, problem: null }

  it('bounds those of a task, and those of a holder that are still in use', async () => {
    await move(DONE)
    const limits = { perTask: 2, perHolder: 3 }
    expect(await save({ id: 'a' }, limits)).toEqual({ ok: true })
    expect(await save({ id: 'b' }, limits)).toEqual({ ok: true })
    expect(await save({ id: 'c' }, limits)).toEqual({ ok: false, full: 'task' })
    expect(await save({ id: 'b' }, limits)).toEqual({ ok: true })
    await move(DONE)
    expect(await save({ id: 'd' }, limits)).toEqual({ ok: true })
    expect(await save({ id: 'e' }, limits)).toEqual({ ok: false, full: 'holder' })
    expect(await save({ id: 'e', holder: 'acct_2' }, limits)).toEqual({ ok: true })
    const [first] = await take()
    await told(first!, DONE, 1, null)
    await move(DONE)
    expect(await save({ id: 'f' }, limits)).toEqual({ ok: true })
  })

  it('keeps to these bounds where many are saved at once, by several processes', async () => {
    await move(DONE)
    const config = configOf()
    const saves = Array.from({ length: 24 }, (_, i) => {
      const one = { ...config, id: `r${i}` }
      made.push(one)
      return (i % 2 ? store : other).savePushConfig({ config: one, limits: { perTask: 5, perHolder: 9 } })
    })
    expect((await Promise.all(saves)).filter(({ ok }) => ok)).toHaveLength(5)
    expect(await store.listPushConfigs(last.id)).toHaveLength(5)
  })

  it('is due when the task is in a state that was not told, and a heartbeat is none', async () => {
    const first = await move(WORKING)
    await save({ toldState: WORKING, toldRevision: 1 })
    expect(await take()).toEqual([])
    const beat = await move(WORKING, {}, first)
    expect(await take()).toEqual([])
    const asks = await move(WAITING, {}, beat)
    const [taken] = await take()
    expect(taken).toMatchObject({ id: 'one', tries: 1, nextAt: NOW + 60 })
    await told(taken!, WAITING, asks.revision)
    expect(await take()).toEqual([])
    // It asked again: the same state, but another question.
    const again = await move(WAITING, {}, await move(WORKING, {}, asks))
    const [second] = await take()
    expect(second).toMatchObject({ toldState: WAITING, toldRevision: asks.revision, tries: 1 })
    await told(second!, WAITING, again.revision)
    expect(await take()).toEqual([])
  })

  it('gives each to one of many that ask at once, and again when whoever took it has died', async () => {
    await move(DONE)
    await save()
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => take({}, i % 2 ? store : other)))
    expect(all.flat()).toHaveLength(1)
    expect(await take({ now: NOW + 59 })).toEqual([])
    expect(await take({ now: NOW + 60, busyUntil: NOW + 120 }, other)).toMatchObject([{ tries: 2 }])
  })

  it('is tried again when it is said to, and never once it ended', async () => {
    await move(DONE)
    await save()
    const [taken] = await take()
    await store.finishPush({
      taken: taken!,
      nextAt: NOW + 5,
      now: NOW,
      ended: { problem: 'timeout', tries: taken!.tries },
    })
    expect(await take({ now: NOW + 4 })).toEqual([])
    const [again] = await take({ now: NOW + 5 })
    expect(again).toMatchObject({ tries: 2, problem: 'timeout' })
    await store.finishPush({
      taken: again!,
      nextAt: null,
      now: NOW,
      ended: { problem: 'status_500', tries: 2 },
    })
    expect(await take({ now: NOW + HOUR - 1 })).toEqual([])
    expect(await store.listPushConfigs(last.id)).toMatchObject([{ nextAt: null, problem: 'status_500' }])
  })

  it('hears nothing of a delivery that was taken before it was replaced', async () => {
    await move(DONE)
    await save()
    const [taken] = await take()
    await save({ url: 'https://b.example/', createdAt: NOW + 1 })
    await told(taken!, DONE, 1, null)
    expect(await take({ now: NOW + 1 })).toMatchObject([{ url: 'https://b.example/', tries: 1 }])
  })

  it('gives one host and one holder their share, whoever was first', async () => {
    await move(DONE)
    for (const id of ['s1', 's2', 's3']) await save({ id, host: 'slow.example:443', holder: 'slow' })
    await save({ id: 'other', createdAt: NOW + 1 })
    const share = { perHost: 1, perHolder: 2 }
    const taken = await take({ now: NOW + 1, share })
    expect(ids(taken).toSorted()).toEqual(['other', 's1'])
    const busy = [{ host: 'slow.example:443', holder: 'slow' }]
    expect(await take({ now: NOW + 1, share, busy })).toEqual([])
    const far = { host: 'else.example:443', holder: 'slow' }
    expect(ids(await take({ now: NOW + 1, share, busy: [far] }))).toEqual(['s2'])
  })

  it('does not hide what others wait for behind hundreds of one holder, at one host or at many', async () => {
    await move(DONE)
    const wide = { perTask: 999, perHolder: 999 }
    const numbers = Array.from({ length: 110 }, (_, i) => i)
    const slow = numbers.map((i) => save({ id: `a${i}`, host: 'slow.example:443', holder: 'slow' }, wide))
    const many = numbers.map((i) => save({ id: `b${i}`, host: `h${i}.example:443`, holder: 'wide' }, wide))
    await Promise.all([...slow, ...many])
    await save({ id: 'other', createdAt: NOW + 1 }, wide)
    const share = { perHost: 2, perHolder: 4 }
    const holders = async (over: Partial<Input<'takePushes'>>) =>
      (await take({ now: NOW + 1, share, ...over })).map(({ holder }) => holder).toSorted()
    // Three places are free, and three wait: each has one.
    expect(await holders({ limit: 3 })).toEqual(['acct_1', 'slow', 'wide'])
    expect(await holders({ limit: 9 })).toEqual(['slow', 'slow', 'wide', 'wide', 'wide', 'wide'])
  })

  it('goes on to the hosts of a holder that are free, where its first ones are busy', async () => {
    await move(DONE)
    for (const host of ['a', 'b', 'c', 'd', 'e'])
      for (let i = 0; i < 5; i++)
        await save({ id: `${host}${i}`, host: `${host}.example:443` }, { perTask: 99, perHolder: 99 })
    const busy = ['a', 'b', 'c'].map((host) => ({ host: `${host}.example:443`, holder: 'acct_1' }))
    expect(ids(await take({ share: { perHost: 1, perHolder: 4 }, busy }))).toEqual(['d0'])
  })

  it('says when nobody waits to be told anything', async () => {
    const active = async () =>
      (
        await store.takePushes({
          now: NOW,
          busyUntil: NOW + 60,
          limit: 1,
          share: { perHost: 1, perHolder: 1 },
          busy: [],
        })
      ).isAnyActive
    expect(await active()).toBe(false)
    await move(WORKING)
    await save({ toldState: WORKING, toldRevision: 1 })
    expect(await active()).toBe(true)
    await move(DONE, {}, last)
    const [taken] = await take()
    await told(taken!, DONE, 2, null)
    expect(await active()).toBe(false)
  })

  it('finds the tasks at work that nobody has written to for a while', async () => {
    const quiet = await move(WORKING, { updatedAt: NOW - 100 })
    await save({ toldState: WORKING, toldRevision: 1 })
    await save({ id: 'two', toldState: WORKING, toldRevision: 1 })
    await move(WORKING, { updatedAt: NOW })
    await save({ toldState: WORKING, toldRevision: 1 })
    await move(WAITING, { updatedAt: NOW - 100 })
    await save()
    // Of a process whose clock goes ahead.
    const ahead = await move(WORKING, { updatedAt: NOW + 3_600_000 })
    await save({ toldState: WORKING, toldRevision: 1 })
    const found = await store.listSilentPushTasks({ before: NOW, after: NOW + 1000, limit: 9 })
    expect(found.map(({ taskId, holder }) => [taskId, holder]).toSorted()).toEqual(
      [quiet.id, ahead.id].map((id) => [id, 'acct_1']).toSorted(),
    )
  })

  it('dies with its task, and is not due once that has expired', async () => {
    const task = await move(DONE, { expiresAt: NOW + 10 })
    await save()
    expect(await take({ now: NOW + 10 })).toEqual([])
    await store.sweep(NOW + 9)
    expect(await store.listPushConfigs(task.id)).toHaveLength(1)
    await store.sweep(NOW + 10)
    expect(await store.listPushConfigs(task.id)).toEqual([])
  })

  it('is forgotten after an hour where its task was never stored', async () => {
    const taskId = newId('task', NOW)
    await save({ taskId })
    await store.sweep(NOW + HOUR)
    expect(await store.listPushConfigs(taskId)).toHaveLength(1)
    await store.sweep(NOW + HOUR + 1)
    expect(await store.listPushConfigs(taskId)).toEqual([])
  })
})
