// What roles, sign-ins and connections may call: judged once, for every tool at every door.
import { describe, expect, it } from 'vitest'
import { ROLES, type Role } from '../../../schemas/role.ts'
import type { Caller } from '../../../src/core/caller.ts'
import type { AnyTool } from '../../../src/core/registry.ts'
import { checkRole, FRESH_MS, isForRole, requireMayPay } from '../../../src/core/roles.ts'
import type { HeldConnection, SignedIn } from '../../../src/store/ports.ts'
import { tools } from '../../../tools/index.ts'

const NOW = 1_800_000_000_000
const toolOf = (name: string) => {
  const tool = tools.find((known) => known.name === name)
  if (!tool) throw new Error(`there is no tool ${name}`)
  return tool
}
const connection = (over: Partial<HeldConnection> = {}): HeldConnection => ({
  id: 'con_1',
  clientId: 'client',
  clientName: 'Assistant',
  personId: 'per_1',
  role: 'owner',
  admin: true,
  mayPay: false,
  mayOperate: true,
  ...over,
})
const operator = (over: Partial<Extract<Caller, { kind: 'operator' }>> = {}): Caller => ({
  kind: 'operator',
  id: 'key_1',
  accountId: 'acct_1',
  admin: true,
  role: 'owner',
  address: '192.0.2.1',
  ...over,
})
const codeOf = (tool: AnyTool, caller: Caller) => {
  try {
    checkRole(tool, caller, NOW)
    return 'allowed'
  } catch (thrown) {
    return (thrown as { code: string }).code
  }
}

describe('a role', () => {
  it.each<[string, Role[]]>([
    ['gateway.egress.credentials.list', ['owner', 'operator', 'approver', 'auditor']],
    ['gateway.egress.credentials.create', ['owner', 'operator']],
    ['gateway.seller.create', ['owner', 'operator', 'seller']],
  ])('%s is for %j', (name, roles) => {
    expect(ROLES.filter((role) => isForRole(toolOf(name), role))).toEqual(roles)
  })
})

describe('what cannot be taken back', () => {
  const tool = toolOf('gateway.signing_keys.rotate')
  const session = (freshAt: number) => operator({ session: { freshAt } as SignedIn })
  it('needs a person who has just shown that it is them, and no more of a program', () => {
    expect(codeOf(tool, session(NOW - FRESH_MS))).toBe('allowed')
    expect(codeOf(tool, session(NOW - FRESH_MS - 1))).toBe('fresh_sign_in_required')
    expect(codeOf(tool, operator())).toBe('allowed')
  })
})

describe('an assistant that may use the tools of operators', () => {
  const assistant = operator({ connection: connection() })
  it.each([
    // It would be a token that outlives the connection.
    'gateway.keys.create',
    'gateway.egress.capabilities.issue',
    'gateway.seller.key',
    // It decides for people.
    'gateway.actions.approve',
    'gateway.egress.attempts.reconcile',
    'gateway.actions.mandates.create',
    // It cannot be taken back.
    'gateway.signing_keys.rotate',
  ])('never calls %s', (name) => {
    expect(codeOf(toolOf(name), assistant)).toBe('role_required')
    expect(codeOf(toolOf(name), operator())).toBe('allowed')
  })

  it('calls none that models are not told of', () => {
    const hidden = tools.filter(({ doors, caller }) => !doors.includes('mcp') && caller === 'operator')
    for (const tool of hidden)
      expect([tool.name, codeOf(tool, assistant)]).toEqual([tool.name, 'role_required'])
  })

  it('calls the others, as far as the role of its person goes', () => {
    expect(codeOf(toolOf('gateway.egress.credentials.list'), assistant)).toBe('allowed')
    const lesser = operator({ connection: connection({ role: 'auditor' }), role: 'auditor' })
    expect(codeOf(toolOf('gateway.egress.credentials.create'), lesser)).toBe('role_required')
  })
})

describe('what costs money', () => {
  it('is for assistants that were allowed it, and for whoever is none', () => {
    expect(() => requireMayPay(operator({ connection: connection({ mayPay: true }) }))).not.toThrow()
    expect(() => requireMayPay(operator())).not.toThrow()
    expect(() => requireMayPay({ kind: 'anonymous', id: 'anonymous', address: '' })).not.toThrow()
    expect(() => requireMayPay(operator({ connection: connection() }))).toThrow(
      expect.objectContaining({ code: 'insufficient_scope' }),
    )
  })
})
