// The pages on which an operator sees how the gateway does and looks after it: whose figures they show, and what a role may do there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleWorld, startConsoleWorld } from '../support/console-world.ts'
import { signIn, type TestPerson } from '../support/people.ts'

let world: ConsoleWorld
let owner: TestPerson
let stranger: TestPerson
beforeAll(async () => {
  world = await startConsoleWorld()
  ;({ owner } = world)
  const { gateway } = world
  const other = await gateway.rest('POST', '/v1/keys', { account: 'new', name: 'other' }, gateway.operatorKey)
  stranger = await signIn(gateway, { accountId: other.body.account_id as string, admin: false })
})
afterAll(() => world?.close())

interface Charts {
  readonly attempts: number
  readonly hosts: readonly { readonly host: string }[]
  readonly process: object | null
}

describe('the charts', () => {
  it('count the attempts of the account alone', async () => {
    const own = await owner.data<Charts>('/console/charts?last=hour')
    expect(own.hosts.map(({ host }) => host)).toEqual(['api.example.com'])
    expect(own.attempts).toBeGreaterThan(2)
    const theirs = await stranger.data<Charts>('/console/charts')
    expect([theirs.attempts, theirs.hosts]).toEqual([0, []])
  })

  it('show what the process did of everybody to who looks after it alone', async () => {
    expect((await owner.data<Charts>('/console/charts')).process).not.toBeNull()
    expect((await stranger.data<Charts>('/console/charts')).process).toBeNull()
    const page = await (await stranger.get('/console/charts')).text()
    expect(page).not.toContain('gateway.egress.fetch')
  })
})
