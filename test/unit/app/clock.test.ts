// The time by which a replica goes: the database's, whatever the clock of its machine does.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Clock, createClock } from '../../../src/app/clock.ts'

const START = Date.UTC(2026, 0, 1)
const DAY = 24 * 60 * 60_000
/** The machine's clock, a clock that nobody sets, and the database's. */
let wall: number
let elapsed: number
let database: number
let warnings: unknown[]
let clock: Clock
const ask = vi.fn<() => Promise<number>>()

beforeEach(() => {
  vi.useFakeTimers()
  wall = database = START
  elapsed = 5
  warnings = []
  ask.mockImplementation(async () => database)
  clock = createClock({
    log: { warn: (told: unknown) => void warnings.push(told) },
    wall: () => wall,
    elapsedMs: () => elapsed,
  })
})
afterEach(() => {
  clock.close()
  vi.useRealTimers()
})
async function pass(ms: number): Promise<void> {
  wall += ms
  elapsed += ms
  database += ms
  await vi.advanceTimersByTimeAsync(ms)
}

it('is that of the machine where there is no other', async () => {
  expect(clock.now()).toBe(START)
  wall += DAY
  expect(clock.now()).toBe(START + DAY)
})

describe('that follows another', () => {
  it('does not step with the machine’s', async () => {
    await clock.follow(ask)
    wall += DAY
    expect(clock.now()).toBe(START)
    await pass(10_000)
    expect(clock.now()).toBe(START + 10_000)
    wall -= 3 * DAY
    await pass(10_000)
    expect(clock.now()).toBe(START + 20_000)
    expect(warnings).toEqual([])
  })

  it('is the other’s from the first moment where the machine’s is off, and says so', async () => {
    wall += DAY
    await clock.follow(ask)
    expect(clock.now()).toBe(START)
    expect(warnings).toEqual([{ off_ms: DAY, machine_off_ms: DAY }])
  })

  it.each([DAY, -DAY])('goes with it where that is another one, as after a failover: %i ms', async (step) => {
    await clock.follow(ask)
    database += step
    await pass(3_000)
    expect(clock.now()).toBe(START + step + 3_000)
    await pass(60_000)
    expect(clock.now()).toBe(START + step + 63_000)
    expect(warnings).toHaveLength(1)
  })

  it('does not jump for less than a second', async () => {
    database += 900
    await clock.follow(ask)
    expect(clock.now()).toBe(START)
    database -= 1_800
    await pass(3_000)
    expect(clock.now()).toBe(START + 3_000)
  })

  it('goes on as it did where the other says nothing, late or what fails, and looks again', async () => {
    await clock.follow(ask)
    wall += DAY
    ask.mockRejectedValueOnce(new Error('no database'))
    await pass(3_000)
    ask.mockImplementationOnce(() => new Promise(() => {}))
    await pass(4_000)
    expect(clock.now()).toBe(START + 7_000)
    database += DAY
    await pass(3_000)
    expect(clock.now()).toBe(START + DAY + 10_000)
  })

  it('takes an answer for the moment in the middle of its way', async () => {
    ask.mockImplementation(async () => {
      elapsed += 400
      return START + DAY
    })
    await clock.follow(ask)
    expect(clock.now()).toBe(START + DAY + 200)
  })

  it('takes none whose way was too long to say of which moment it is', async () => {
    await clock.follow(ask)
    ask.mockImplementation(async () => {
      elapsed += 8_000
      return START
    })
    await pass(3_000)
    expect(clock.now()).toBe(START + 11_000)
    expect(warnings).toEqual([])
  })

  it('waits longer for the first one, and begins nothing without it', async () => {
    ask.mockImplementationOnce(async () => {
      elapsed += 4_000
      return START + DAY
    })
    await clock.follow(ask)
    expect(clock.now()).toBe(START + DAY + 2_000)
    ask.mockRejectedValueOnce(new Error('no database'))
    await expect(clock.follow(ask)).rejects.toThrow('no database')
    ask.mockImplementationOnce(() => new Promise(() => {}))
    const refused = expect(clock.follow(ask)).rejects.toThrow('did not say within 10 s')
    await pass(10_000)
    await refused
  })

  it('asks nothing any more once it is closed', async () => {
    await clock.follow(ask)
    ask.mockClear()
    clock.close()
    await pass(60_000)
    expect(ask).not.toHaveBeenCalled()
  })
})
