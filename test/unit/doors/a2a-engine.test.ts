import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { A2aCall } from '../../../src/doors/a2a/call.ts'
import { createEngine } from '../../../src/doors/a2a/engine.ts'
import { createLiveTask, follow, publishStatus } from '../../../src/doors/a2a/task-registry.ts'
import type { Outcome, Work } from '../../../src/doors/a2a/work.ts'
import type { WireEvent, WireTask } from '../../../src/doors/a2a/wire.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createMemoryTaskStore, type MemoryTaskStore } from '../../support/task-store.ts'

const call: A2aCall = {
  tokens: {},
  address: '127.0.0.1',
  requestId: 'req_1',
  traceparent: undefined,
  version: '1.0',
  extensions: [],
  gone: new AbortController().signal,
}
const admit = async () => ({ kind: 'anonymous', id: 'anonymous', address: '' }) as const
const request = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } }
const atOnce = { ...request, configuration: { returnImmediately: true } }
const completed: Outcome = { kind: 'ended', state: 'TASK_STATE_COMPLETED' }

/** An engine whose only work ends when it is told to, whatever its signal says. */
function engineOver(
  memory: MemoryTaskStore,
  options: { engine?: 'postgres'; now?: () => number; graceMs?: number } = {},
) {
  const end = Promise.withResolvers<Outcome>()
  let signal: AbortSignal | undefined
  const work: Work = {
    reply: 'task',
    async run(context) {
      signal = context.signal
      await context.accepted(null)
      return end.promise
    },
  }
  const engine = createEngine({
    store: { ...memory.store, engine: options.engine ?? 'sqlite' },
    now: options.now ?? Date.now,
    log: createLogger('silent'),
    plan: () => work,
    decide: async () => undefined,
    admit,
    cancelGraceMs: options.graceMs ?? 10,
  })
  const begin = async () => {
    const reply = await engine.send(atOnce, call)
    if ('message' in reply) throw new Error('no task')
    return reply.task.id
  }
  return { engine, begin, end: (outcome = completed) => end.resolve(outcome), signal: () => signal }
}
const stateOf = (task: WireTask) => task.status.state
const collect = async (events: AsyncGenerator<WireEvent>) => {
  const states: string[] = []
  for await (const event of events) if ('statusUpdate' in event) states.push(event.statusUpdate.status.state)
  return states
}

describe('canceling', () => {
  test('work that does not stop in time is canceled over its head, and its late result is dropped', async () => {
    const memory = createMemoryTaskStore()
    const { engine, begin, end, signal } = engineOver(memory)
    const id = await begin()
    const canceled = await engine.cancel(id, call)
    expect(stateOf(canceled)).toBe('TASK_STATE_CANCELED')
    expect(canceled.status.message!.parts[0]!.text).toMatch(/may still take effect/)
    expect(signal()!.aborted).toBe(true)
    end()
    await engine.close(1000)
    expect(stateOf(await engine.get(id, undefined, call))).toBe('TASK_STATE_CANCELED')
    expect(memory.rows.get(id)!.revision).toBe(2)
  })

  test('of a cancel and an end at the same time one wins, and everybody hears the same', async () => {
    const memory = createMemoryTaskStore()
    const { engine, begin, end } = engineOver(memory, { graceMs: 1000 })
    const id = await begin()
    const heard = collect(engine.subscribe(id, call))
    const canceling = engine.cancel(id, call).then(stateOf, () => 'too late')
    end()
    expect(await canceling).toBe('too late')
    expect(await heard).toEqual(['TASK_STATE_COMPLETED'])
    expect(memory.rows.get(id)!.state).toBe('TASK_STATE_COMPLETED')
  })
})

test('a task whose payment was found good cannot be canceled, not even while it is first written', async () => {
  const memory = createMemoryTaskStore()
  const [writing, written] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  const end = Promise.withResolvers<Outcome>()
  const work: Work = {
    reply: 'task',
    async run({ accepted, reserve }) {
      reserve()
      await accepted(null)
      return end.promise
    },
  }
  const engine = createEngine({
    store: {
      ...memory.store,
      async saveTask(row) {
        writing.resolve(row.id)
        await written.promise
        return memory.store.saveTask(row)
      },
    },
    now: Date.now,
    log: createLogger('silent'),
    plan: () => work,
    decide: async () => undefined,
    admit,
  })
  const sending = engine.send(atOnce, call)
  await expect(engine.cancel(await writing.promise, call)).rejects.toThrow(/being paid for/)
  written.resolve()
  await sending
  end.resolve(completed)
  await engine.close(1000)
  expect(memory.rows.get(await writing.promise)!.state).toBe('TASK_STATE_COMPLETED')
})

describe('follow-ups', () => {
  test('of two at once one is taken, and the other does not disturb its work', async () => {
    const memory = createMemoryTaskStore()
    const first = engineOver(memory)
    const id = await first.begin()
    first.end({ kind: 'ended', state: 'TASK_STATE_INPUT_REQUIRED' })
    await expect.poll(() => memory.rows.get(id)!.state).toBe('TASK_STATE_INPUT_REQUIRED')

    const { engine, end } = engineOver(memory)
    const followUp = { ...atOnce, message: { ...request.message, taskId: id } }
    const both = await Promise.allSettled([engine.send(followUp, call), engine.send(followUp, call)])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(stateOf(await engine.get(id, undefined, call))).toBe('TASK_STATE_WORKING')
    end()
    await engine.close(60_000)
    expect(memory.rows.get(id)!.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('several replicas on one store', () => {
  test("a task canceled at another replica keeps that state when its own replica's work ends", async () => {
    const memory = createMemoryTaskStore()
    const [one, other] = [
      engineOver(memory, { engine: 'postgres' }),
      engineOver(memory, { engine: 'postgres' }),
    ]
    const id = await one.begin()
    const heard = collect(one.engine.subscribe(id, call))
    expect(stateOf(await other.engine.cancel(id, call))).toBe('TASK_STATE_CANCELED')
    one.end()
    expect(await heard).toEqual(['TASK_STATE_CANCELED'])
    expect(stateOf(await one.engine.get(id, undefined, call))).toBe('TASK_STATE_CANCELED')
    await Promise.all([one.engine.close(0), other.engine.close(0)])
  })

  describe('whose process is dead', () => {
    const BEAT_MS = 30_000
    const HOUR = 3_600_000
    let now = 0
    beforeEach(() => {
      now = Date.now()
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    })
    afterEach(() => void vi.useRealTimers())

    async function pass(ms: number): Promise<void> {
      now += ms
      await vi.advanceTimersByTimeAsync(ms)
      await turns()
    }
    const turns = async () => {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    /** Two replicas, of which the second one's clock goes ahead. */
    function twoReplicas(aheadMs = 0) {
      const memory = createMemoryTaskStore()
      const one = engineOver(memory, { engine: 'postgres', now: () => now })
      const other = engineOver(memory, { engine: 'postgres', now: () => now + aheadMs })
      const look = async (id: string) => stateOf(await other.engine.get(id, undefined, call))
      const close = async () => {
        one.end()
        await Promise.all([one.engine.close(0), other.engine.close(0)])
      }
      return { memory, one, look, close }
    }

    test('is one that was seen to be silent for long; that of a task that goes on is left alone', async () => {
      const { memory, one, look, close } = twoReplicas()
      const id = await one.begin()
      for (let beats = 0; beats < 20; beats++) {
        expect(await look(id)).toBe('TASK_STATE_WORKING')
        await pass(BEAT_MS)
      }
      expect(await look(id)).toBe('TASK_STATE_WORKING')
      memory.failSaves = true
      for (let s = 0; s < 119; s++) {
        expect(await look(id)).toBe('TASK_STATE_WORKING')
        now += 1000
      }
      memory.failSaves = false
      now += 1000
      expect(await look(id)).toBe('TASK_STATE_FAILED')
      await close()
    })

    test.each([-HOUR, HOUR])('is told whatever the clocks say: %i ms apart', async (aheadMs) => {
      const { one, look, close } = twoReplicas(aheadMs)
      const id = await one.begin()
      for (let beats = 0; beats < 8; beats++) {
        expect(await look(id)).toBe('TASK_STATE_WORKING')
        await pass(BEAT_MS)
      }
      now += 119_000
      expect(await look(id)).toBe('TASK_STATE_WORKING')
      await close()
    })

    test('is not told by a time in which nobody could look, as while the database was away', async () => {
      const { one, look, close } = twoReplicas()
      const id = await one.begin()
      expect(await look(id)).toBe('TASK_STATE_WORKING')
      now += HOUR
      expect(await look(id)).toBe('TASK_STATE_WORKING')
      await close()
    })

    test('is found out by whoever looked once, and does not wait for another look', async () => {
      const { memory, one, look, close } = twoReplicas()
      const id = await one.begin()
      const row = memory.rows.get(id)!
      await look(id)
      // The process is gone: it does not beat any more.
      one.end()
      await one.engine.close(1000)
      memory.rows.set(id, row)
      for (let beats = 0; beats < 3; beats++) await pass(BEAT_MS)
      expect(memory.rows.get(id)!.state).toBe('TASK_STATE_WORKING')
      await pass(BEAT_MS)
      expect(memory.rows.get(id)!.state).toBe('TASK_STATE_FAILED')
      await close()
    })

    test('and lives after all calls its work off, and says what is stored', async () => {
      const { memory, one, close } = twoReplicas()
      const id = await one.begin()
      const row = memory.rows.get(id)!
      const task = {
        ...(JSON.parse(row.json) as WireTask),
        status: { state: 'TASK_STATE_FAILED', timestamp: '' },
      }
      memory.rows.set(id, {
        ...row,
        state: 'TASK_STATE_FAILED',
        json: JSON.stringify(task),
        revision: row.revision + 1,
      })
      await pass(BEAT_MS)
      expect(one.signal()!.aborted).toBe(true)
      await close()
      expect(stateOf(await one.engine.get(id, undefined, call))).toBe('TASK_STATE_FAILED')
    })

    test('and lives after all leaves alone what another process has begun meanwhile', async () => {
      const { memory, one, close } = twoReplicas()
      const id = await one.begin()
      const row = memory.rows.get(id)!
      const taken = {
        ...row,
        json: row.json.replace(/("gateway\.worker":")[^"]+/, '$1another process'),
        revision: row.revision + 1,
      }
      expect(taken.json).not.toBe(row.json)
      memory.rows.set(id, taken)
      await pass(BEAT_MS)
      one.end()
      await turns()
      expect(memory.rows.get(id)).toEqual(taken)
      await close()
    })

    test('and only was not told of its own write goes on', async () => {
      const { memory, one, close } = twoReplicas()
      const id = await one.begin()
      const row = memory.rows.get(id)!
      memory.rows.set(id, { ...row, revision: row.revision + 1 })
      await pass(BEAT_MS)
      expect(one.signal()!.aborted).toBe(false)
      one.end()
      await turns()
      expect(memory.rows.get(id)!.state).toBe('TASK_STATE_COMPLETED')
      await close()
    })
  })
})

test('one address has a hundred streams open on tasks at most, and others go on', async () => {
  const { engine, begin, end } = engineOver(createMemoryTaskStore())
  const id = await begin()
  const open = async (from = call) => {
    const stream = engine.subscribe(id, from)
    await stream.next()
    return stream
  }
  const [first] = await Promise.all(Array.from({ length: 100 }, () => open()))
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited', extras: { retry_after_seconds: 10 } })
  await open({ ...call, address: '127.0.0.2' })
  // Its client went away, and its place is another's; ending it twice gives no second one.
  await first?.return()
  await first?.return()
  await open()
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited' })
  end()
})

test('a stream misses nothing that happens before it is first read', async () => {
  const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING', timestamp: '' } } as const
  const live = createLiveTask(task, null, new AbortController())
  const events = follow(live, call.gone)
  publishStatus(live, { state: 'TASK_STATE_COMPLETED', timestamp: '' })
  expect(await collect(events)).toEqual(['TASK_STATE_COMPLETED'])
  expect(live.listeners.size).toBe(0)
})

describe('when the store fails', () => {
  test('at the start, the work does not begin', async () => {
    const memory = createMemoryTaskStore()
    const { engine, begin } = engineOver(memory)
    memory.failSaves = true
    await expect(begin()).rejects.toThrow()
    expect(memory.rows.size).toBe(0)
    await engine.close(1000)
  })

  test('at the end, streams end as failed and later reads say the same', async () => {
    const memory = createMemoryTaskStore()
    const { engine, begin, end } = engineOver(memory)
    const id = await begin()
    const heard = collect(engine.subscribe(id, call))
    memory.failSaves = true
    end()
    expect(await heard).toEqual(['TASK_STATE_FAILED'])
    memory.failSaves = false
    expect(stateOf(await engine.get(id, undefined, call))).toBe('TASK_STATE_FAILED')
  })
})

describe('closing', () => {
  test('waits for the work in hand', async () => {
    const memory = createMemoryTaskStore()
    const { engine, begin, end } = engineOver(memory)
    const id = await begin()
    const closed = engine.close(60_000)
    end()
    await closed
    expect(memory.rows.get(id)!.state).toBe('TASK_STATE_COMPLETED')
  })

  test('aborts what does not end in time', async () => {
    const { engine, begin, signal, end } = engineOver(createMemoryTaskStore())
    await begin()
    await engine.close(1)
    expect(signal()!.aborted).toBe(true)
    end()
  })
})

describe('two copies of a payment that find the task waiting at once', () => {
  test.each(['send', 'stream'] as const)('end with the task of the one that got it (%s)', async (how) => {
    const memory = createMemoryTaskStore()
    let begun = 0
    const asked = { 'x402.payment.status': 'payment-required' }
    const work = (resumed: unknown): Work => ({
      reply: 'task',
      async run({ accepted }) {
        if (!resumed)
          return {
            kind: 'ended',
            state: 'TASK_STATE_INPUT_REQUIRED',
            parts: [{ text: 'Pay.' }],
            metadata: asked,
          }
        await accepted(null, [{ text: 'Checking.' }], { 'x402.payment.status': 'payment-submitted' })
        begun++
        return {
          ...completed,
          parts: [{ text: 'Paid.' }],
          metadata: { 'x402.payment.status': 'payment-completed' },
        }
      },
    })
    const replica = () =>
      createEngine({
        store: { ...memory.store, engine: 'postgres' },
        now: Date.now,
        log: createLogger('silent'),
        plan: (_request, _call, resumed) => work(resumed),
        decide: async () => undefined,
        admit,
      })
    const engines = [replica(), replica()]
    const waiting = await engines[0]!.send(request, call)
    if ('message' in waiting) throw new Error('no task')
    const metadata = { 'x402.payment.payload': { x402Version: 2 } }
    const paying = { message: { ...request.message, taskId: waiting.task.id, metadata } }
    const lastOf = async (engine: (typeof engines)[number]) => {
      if (how === 'send') {
        const reply = await engine.send(paying, call)
        return 'task' in reply ? reply.task.status : undefined
      }
      let status: WireTask['status'] | undefined
      for await (const event of engine.stream(paying, call))
        if ('task' in event) ({ status } = event.task)
        else if ('statusUpdate' in event) ({ status } = event.statusUpdate)
      return status
    }
    const [one, other] = await Promise.all(engines.map(lastOf))
    expect(one?.state).toBe('TASK_STATE_COMPLETED')
    expect(other).toEqual(one)
    expect(begun).toBe(1)
    await Promise.all(engines.map((engine) => engine.close(0)))
  })
})
