import { describe, expect, it } from 'vitest'
import type { Caller } from '../../../src/core/caller.ts'
import { createPlaces, type Places } from '../../../src/core/places.ts'
import type { HeldCapability } from '../../../src/store/ports.ts'

const stranger = (address: string): Caller => ({ kind: 'anonymous', id: 'anonymous', address })
const agent = (rootId: string, accountId = 'acct_1', id = rootId): Caller => ({
  kind: 'agent',
  id,
  accountId,
  capability: { id, rootId, accountId } as HeldCapability,
  address: '192.0.2.1',
})
const operator = (id: string, accountId: string): Caller => ({
  kind: 'operator',
  id,
  accountId,
  admin: false,
  role: 'operator',
  address: '192.0.2.1',
})

/** Enters until refused. @returns what gives each place back */
function fill(places: Places, caller: Caller): (() => void)[] {
  const leave: (() => void)[] = []
  try {
    for (;;) leave.push(places.enter(caller))
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'overloaded', reason: 'caller_busy' })
  }
  return leave
}

describe('the places of calls', () => {
  it('are all of one caller where nobody else wants any', () => {
    expect(fill(createPlaces(512), agent('cap_1'))).toHaveLength(512)
  })

  it('are crowded when one caller alone has all that he may have, until he leaves one', () => {
    const places = createPlaces(512)
    expect(places.isCrowded).toBe(false)
    const leave = fill(places, agent('cap_1'))
    expect(places.isCrowded).toBe(true)
    leave[0]!()
    expect(places.isCrowded).toBe(false)
  })

  it('are left for other agents of the account, and for other accounts', () => {
    const places = createPlaces(512)
    fill(places, agent('cap_1'))
    expect(fill(places, agent('cap_2')).length).toBeGreaterThan(50)
    expect(fill(places, operator('key_9', 'acct_9')).length).toBeGreaterThan(50)
  })

  it('are left for others however many agents an account has', () => {
    const places = createPlaces(512)
    for (let i = 0; i < 200; i++) fill(places, agent(`cap_${i}`))
    expect(fill(places, operator('key_9', 'acct_9')).length).toBeGreaterThan(50)
  })

  it('are left for those who are known, however many strangers there are', () => {
    const places = createPlaces(512)
    for (let i = 0; i < 200; i++) fill(places, stranger(`192.0.2.${i}`))
    expect(fill(places, agent('cap_1')).length).toBeGreaterThan(50)
  })

  it('are no more for who narrows a capability, or has many addresses of one network', () => {
    const places = createPlaces(8)
    expect(fill(places, agent('cap_1'))).toHaveLength(8)
    expect(fill(places, agent('cap_1', 'acct_1', 'cap_narrowed'))).toHaveLength(0)
    const others = createPlaces(8)
    expect(fill(others, stranger('2001:db8::1'))).toHaveLength(8)
    expect(fill(others, stranger('2001:db8::2'))).toHaveLength(0)
  })

  it('are given back once', () => {
    const places = createPlaces(2)
    const [first, second] = fill(places, agent('cap_1'))
    first?.()
    first?.()
    expect(fill(places, agent('cap_1'))).toHaveLength(1)
    second?.()
    expect(fill(places, agent('cap_1'))).toHaveLength(1)
  })
})
