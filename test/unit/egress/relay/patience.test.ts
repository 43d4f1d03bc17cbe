import { describe, expect, it } from 'vitest'
import { ClientStalled, createPatience, type PatienceParts } from '../../../../src/egress/relay/patience.ts'

const never = new Promise<void>(() => {})
const waiting = (over: Partial<PatienceParts> = {}) =>
  createPatience({
    stallMs: 60_000,
    endsAt: 60_000,
    cut: new AbortController().signal,
    now: () => 0,
    ...over,
  })

describe('waiting for a program to read on', () => {
  it('goes on when it does, and where nothing has to be waited for', async () => {
    await waiting().wait(Promise.resolve())
    await waiting().wait(undefined)
  })

  it('ends when it reads nothing for too long, and names the program', async () => {
    await expect(waiting({ stallMs: 20 }).wait(never)).rejects.toBeInstanceOf(ClientStalled)
  })

  it('ends when all of it takes too long, however often it reads on and whoever is done', async () => {
    await expect(waiting({ endsAt: 20 }).wait(never)).rejects.toMatchObject({ reason: 'total' })
    let at = 0
    const slow = waiting({ endsAt: 100, now: () => at })
    for (; at < 100; at += 30) await slow.wait(Promise.resolve())
    await expect(slow.wait(Promise.resolve())).rejects.toMatchObject({ reason: 'total' })
    await expect(slow.wait(undefined)).rejects.toMatchObject({ reason: 'total' })
  })

  it('ends when it is not to go on, before and while it waits', async () => {
    const cut = new AbortController()
    const patience = waiting({ cut: cut.signal })
    const ended = patience.wait(never)
    cut.abort()
    await expect(ended).rejects.toMatchObject({ reason: 'aborted' })
    await expect(patience.wait(undefined)).rejects.toMatchObject({ reason: 'aborted' })
  })

  it('leaves nothing behind that would be heard later', async () => {
    const added: string[] = []
    const removed: string[] = []
    const signal = {
      aborted: false,
      addEventListener: (name: string) => void added.push(name),
      removeEventListener: (name: string) => void removed.push(name),
    } as unknown as AbortSignal
    const patience = waiting({ cut: signal })
    for (let i = 0; i < 3; i++) await patience.wait(Promise.resolve())
    expect([added.length, removed.length]).toEqual([3, 3])
  })
})
