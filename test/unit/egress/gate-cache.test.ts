import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGateCache } from '../../../src/egress/gate-cache.ts'
import { createLeakGate } from '../../../src/egress/leak-gate.ts'
import { Secret } from '../../../src/secret.ts'

const credential = { id: 'cred_1', version: 1, scheme: 'Bearer' }
const echo = (text: string) => ({ statusText: 'OK', headers: [], body: Buffer.from(text) })

describe('leak gates of credentials in use', () => {
  const made = vi.fn(createLeakGate)
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    made.mockClear()
    vi.useRealTimers()
  })

  it('are made once for a burst of responses', () => {
    const gateFor = createGateCache(made)
    const gate = gateFor(new Secret('first-secret'), credential)
    expect(gateFor(new Secret('first-secret'), credential)).toBe(gate)
    expect(made).toHaveBeenCalledTimes(1)
  })

  it('are gone two seconds after they were made, used or not', () => {
    const gateFor = createGateCache(made)
    const gate = gateFor(new Secret('first-secret'), credential)
    vi.advanceTimersByTime(1_999)
    expect(gateFor(new Secret('first-secret'), credential)).toBe(gate)
    vi.advanceTimersByTime(1)
    expect(gateFor(new Secret('first-secret'), credential)).not.toBe(gate)
  })

  it('of a rotated secret look for the new one at once', () => {
    const gateFor = createGateCache(made)
    gateFor(new Secret('first-secret'), credential)
    const gate = gateFor(new Secret('second-secret'), { ...credential, version: 2 })
    expect(gate.inspect(echo('second-secret')).ok).toBe(false)
    expect(gate.inspect(echo('first-secret')).ok).toBe(true)
  })

  it('belong to one credential, also when two hold secrets of the same version', () => {
    const gateFor = createGateCache(made)
    gateFor(new Secret('first-secret'), credential)
    const other = gateFor(new Secret('other-secret'), { ...credential, id: 'cred_2' })
    expect(other.inspect(echo('other-secret')).ok).toBe(false)
  })

  it('beyond the first 256 are made for one response and not kept', () => {
    const gateFor = createGateCache(made)
    for (let i = 0; i < 256; i++) gateFor(new Secret('first-secret'), { ...credential, id: `cred_${i}` })
    const extra = { ...credential, id: 'cred_extra' }
    expect(gateFor(new Secret('first-secret'), extra)).not.toBe(gateFor(new Secret('first-secret'), extra))
  })
})
