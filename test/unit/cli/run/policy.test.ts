import { describe, expect, it } from 'vitest'
import { EgressRules } from '../../../../schemas/egress-rule.ts'
import { createDryRun } from '../../../../src/cli/run/dry-run.ts'
import { createRunRecord, describeRun } from '../../../../src/cli/run/summary.ts'
import { parsePolicy } from '../../../../src/cli/run/policy.ts'

const policy = parsePolicy(
  `# what the nightly build may do
allow  GET api.github.com/repos/acme/**   # reads

ask POST api.github.com/repos/acme/site/pulls
deny DELETE *
tunnel pypi.org
`,
  'nightly.policy',
)
const called = (host: string, port = 443) => ({ host, port })

describe('a policy of a run', () => {
  it('has a line for each rule, and the rules of a host are those that name it and those that name every one', () => {
    expect(policy.rulesFor(called('api.github.com'))).toEqual([
      'allow GET api.github.com/repos/acme/**',
      'ask POST api.github.com/repos/acme/site/pulls',
      'deny DELETE *',
    ])
    expect(policy.rulesFor(called('other.example.com'))).toEqual(['deny DELETE *'])
    expect(policy.tunnels(called('pypi.org'))).toBe(true)
    expect(policy.tunnels(called('files.pypi.org'))).toBe(false)
    expect(policy.judge({ ...called('api.github.com'), method: 'GET', path: '/repos/acme/site' })).toEqual({
      decision: 'allow',
      rule: 'allow GET api.github.com/repos/acme/**',
    })
  })

  it.each([
    ['allow GET', /nightly\.policy, line 2: is no rule/],
    ['tunnel *', /line 2: a tunnel is for one host/],
    ['tunnel pypi.org/simple/x y', /line 2/],
    ['allow get *', /line 2/],
    ['tunnel pypi.org/simple/**', /line 2: a tunnel is for one host, and for every path/],
    ['allow GET api.example.com/a//b', /line 2: its path is not canonical/],
    ['deny * */a/%2e%2e/b', /line 2: its path is not canonical/],
  ])('refuses `%s`, and says where it stands', (line, words) => {
    expect(() => parsePolicy(`# first\n${line}\n`, 'nightly.policy')).toThrow(words)
  })

  it('is read as editors of every kind write it', () => {
    const text = '\ufeff# first\r\n\tallow\tGET  api.example.com/a%2Fb \t# why\r\n \r\ntunnel\tpypi.org'
    const read = parsePolicy(text, 'windows.policy')
    expect(read.rules).toEqual(['allow GET api.example.com/a%2Fb'])
    expect(read.tunnels(called('pypi.org'))).toBe(true)
  })

  it('refuses a text that would refuse everything, and more rules than a capability takes', () => {
    expect(() => parsePolicy('# nothing\n\n', 'empty')).toThrow('empty holds no rule')
    const lines = Array.from({ length: 65 }, (_, at) => `allow GET api.example.com/${at}`)
    expect(() => parsePolicy(lines.join('\n'), 'long')).toThrow('long has 65 rules for api.example.com')
    const wide = (length: number) =>
      Array.from({ length: 16 }, (_, at) => `allow GET api.example.com/${at}/`.padEnd(length, 'x'))
    const refused =
      'wide has rules of 16400 characters together for api.example.com, and a capability takes 16384'
    expect(() => parsePolicy(wide(1025).join('\n'), 'wide')).toThrow(refused)
    expect(EgressRules.safeParse(parsePolicy(wide(1024).join('\n'), 'wide').rules).success).toBe(true)
  })
})

it('a dry run counts what is asked for, without queries, and says what the policy would', () => {
  const dryRun = createDryRun(policy)
  const note = (method: string, path: string) => dryRun.note({ ...called('api.github.com'), method, path })
  note('GET', '/repos/acme/site?token=secret')
  note('GET', '/repos/acme/site?page=2')
  note('POST', '/graphql')
  expect(dryRun.seen().requests).toEqual([
    { method: 'GET', host: 'api.github.com', path: '/repos/acme/site', times: 2, decision: 'allow' },
    { method: 'POST', host: 'api.github.com', path: '/graphql', times: 1, decision: 'deny' },
  ])
  expect(JSON.stringify(dryRun.seen())).not.toContain('secret')
})

it('a dry run keeps ten thousand different requests, counts the others, and says how many of them the policy does not allow', () => {
  const dryRun = createDryRun(policy)
  const note = (method: string, path: string) => dryRun.note({ ...called('api.github.com'), method, path })
  for (let at = 0; at < 10_000; at++) note('GET', `/repos/acme/${at}`)
  note('GET', '/repos/acme/9999')
  expect(dryRun.seen()).not.toHaveProperty('others')
  note('GET', '/repos/acme/late')
  note('POST', '/graphql')
  const seen = dryRun.seen()
  expect(seen.requests).toHaveLength(10_000)
  expect(seen.requests.at(-1)).toMatchObject({ path: '/repos/acme/9999', times: 2 })
  expect(seen.others).toEqual({ times: 2, refused: 1 })
  const summary = createRunRecord().summarise(0, { attempts: [], isWhole: true }, seen)
  expect(summary).toMatchObject({ requests_others: { times: 2, refused: 1 } })
  expect(describeRun(summary)).toContain(
    '  dry run: 2 further requests of too many different ones to name, 1 of which the policy does not allow\n',
  )
})
