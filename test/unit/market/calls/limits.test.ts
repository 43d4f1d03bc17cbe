import { beforeEach, describe, expect, it } from 'vitest'
import { type CallLimits, createCallLimits } from '../../../../src/market/calls/limits.ts'

let time: number
let limits: CallLimits
beforeEach(() => {
  time = 600_000
  limits = createCallLimits({ isOff: false, now: () => time })
})
const ask = (address: string, isPaying = false) => limits.asked('acme/weather', 2, { address, isPaying })
const tooMany = expect.objectContaining({ code: 'rate_limited' })

describe('calls of a service a minute', () => {
  it('are counted for all buyers together, and then nobody is told the price', () => {
    for (const _call of [1, 2]) limits.begun('acme/weather', 'acme', 2)()
    expect(() => limits.begun('acme/weather', 'acme', 2)).toThrow(tooMany)
    expect(() => ask('192.0.2.1')).toThrow(tooMany)
    expect(() => limits.asked('acme/other', 2, { address: '192.0.2.1', isPaying: false })).not.toThrow()
    time += 60_000
    expect(() => ask('192.0.2.1')).not.toThrow()
  })

  it('are counted from the first one on, not from a full minute of the clock', () => {
    time = 659_000
    for (const _call of [1, 2]) ask('192.0.2.1')
    time = 661_000
    expect(() => ask('192.0.2.1')).toThrow(tooMany)
    time = 719_000
    expect(() => ask('192.0.2.1')).not.toThrow()
  })

  it('that nobody pays for keep only whoever asks away', () => {
    for (const _call of [1, 2]) ask('192.0.2.1')
    expect(() => ask('192.0.2.1')).toThrow(tooMany)
    expect(() => ask('192.0.2.1', true)).not.toThrow()
    expect(() => ask('192.0.2.2')).not.toThrow()
    for (const _call of [1, 2]) ask('2001:db8::1')
    expect(() => ask('2001:db8::2')).toThrow(tooMany)
  })

  it('are not counted where the operator has switched limits off', () => {
    const off = createCallLimits({ isOff: true, now: () => time })
    for (let call = 0; call < 5; call++) off.begun('acme/weather', 'acme', 2)()
    expect(() => off.asked('acme/weather', 2, { address: '192.0.2.1', isPaying: false })).not.toThrow()
  })

  it('of one seller that wait at once leave room for the others', () => {
    const leave = Array.from({ length: 64 }, (_v, i) => limits.begun(`acme/s${i}`, 'acme', 2))
    expect(() => limits.begun('acme/one-more', 'acme', 2)).toThrow(tooMany)
    expect(() => limits.begun('other/one', 'other', 2)).not.toThrow()
    leave[0]?.()
    expect(() => limits.begun('acme/one-more', 'acme', 2)).not.toThrow()
  })
})
