// What may be granted, what a grant opens, and that nothing else in the gateway opens a range.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { PrivateTarget } from '../../../../schemas/credential-settings.ts'
import { createAddressPolicy } from '../../../../src/egress/address.ts'
import {
  checkPrivateTargets,
  createReach,
  type GrantRules,
} from '../../../../src/egress/reach/private-targets.ts'

const HOST = 'git.example.com'
const targetOf = (changes: Partial<PrivateTarget> = {}): PrivateTarget => ({
  host: HOST,
  port: 8443,
  cidr: '10.1.2.0/24',
  ...changes,
})

function classify(
  address: string,
  {
    bounds = ['10.0.0.0/8', 'fd00::/8'],
    targets = [targetOf(), targetOf({ cidr: 'fd00:1::/64' })] as readonly PrivateTarget[] | undefined,
    host = HOST,
    port = 8443,
  } = {},
) {
  const settings = targets === undefined ? {} : { unsafe_private_targets: [...targets] }
  return createReach(createAddressPolicy([]), bounds)({ host, port }, { settings }).classify(address)
}

describe('a grant', () => {
  it.each(['10.1.2.0', '10.1.2.255', 'fd00:1::1', '93.184.216.34'])('opens %s', (address) => {
    expect(classify(address)).toEqual({ ok: true })
  })

  it.each<[string, string, Parameters<typeof classify>[1], string]>([
    ['just below the range', '10.1.1.255', {}, 'private'],
    ['just above the range', '10.1.3.0', {}, 'private'],
    ['another family that maps to the range', '::ffff:10.1.2.3', {}, 'embeds_ipv4'],
    ['on another port', '10.1.2.3', { port: 443 }, 'private'],
    ['under another name', '10.1.2.3', { host: 'www.git.example.com' }, 'private'],
    ['without targets', '10.1.2.3', { targets: [] }, 'private'],
    ['beyond what bounds it by now', '10.1.2.3', { bounds: ['10.1.2.4/30'] }, 'beyond_bound'],
    ['where nothing may be granted any more', '10.1.2.3', { bounds: [] }, 'beyond_bound'],
    ...(
      [
        ['169.254.169.254', 'link_local'],
        ['169.254.170.2', 'link_local'],
        ['168.63.129.16', 'cloud_metadata'],
        ['100.100.100.200', 'cloud_metadata'],
        ['192.0.0.192', 'cloud_metadata'],
        ['0.0.0.0', 'this_network'],
        ['224.0.0.1', 'multicast'],
        ['255.255.255.255', 'broadcast'],
      ] as const
    ).map(([address, reason]): [string, string, Parameters<typeof classify>[1], string] => [
      `${address} inside of a range of everything`,
      address,
      { bounds: ['0.0.0.0/0'], targets: [targetOf({ cidr: '0.0.0.0/0' })] },
      reason,
    ]),
    ...['fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'].map(
      (address): [string, string, Parameters<typeof classify>[1], string] => [
        `the metadata address ${address}`,
        address,
        { bounds: ['fd00::/8'], targets: [targetOf({ cidr: 'fd00::/8' })] },
        'cloud_metadata',
      ],
    ),
  ])('leaves closed what is %s', (_where, address, options, reason) => {
    expect(classify(address, options)).toEqual({ ok: false, reason })
  })

  it('opens nothing to a request without a credential', () => {
    const reach = createReach(createAddressPolicy([]), ['0.0.0.0/0', '::/0'])
    const verdict = reach({ host: HOST, port: 8443 }, undefined).classify('10.1.2.3')
    expect(verdict).toEqual({ ok: false, reason: 'private' })
  })
})

describe('granting', () => {
  const rules: GrantRules = {
    isAdministrator: true,
    bounds: ['10.0.0.0/8', 'fd00::/8'],
    ports: [443, 8443],
    scope: { hosts: [HOST], path_prefixes: ['/'], methods: ['GET'] },
  }
  const grant = (changes: Partial<PrivateTarget>, others: Partial<GrantRules> = {}) =>
    checkPrivateTargets([targetOf(changes)], { ...rules, ...others })

  it.each([
    [{}, {}],
    [{ cidr: '10.0.0.0/8' }, {}],
    [{ cidr: 'fd00:1::1/128' }, {}],
    [{}, { scope: { ...rules.scope, hosts: [`${HOST}:8443`] } }],
  ])('is possible: %j %j', (changes, others) => {
    expect(() => grant(changes, others)).not.toThrow()
  })

  it.each<[string, Partial<PrivateTarget>, Partial<GrantRules>, string, RegExp]>([
    ['a host outside of the scope', { host: 'x.example.com' }, {}, 'host', /not among the `hosts`/],
    [
      'a port outside of the scope',
      {},
      { scope: { ...rules.scope, hosts: [`${HOST}:443`] } },
      'host',
      /hosts/,
    ],
    ['a port that is not allowed', { port: 9 }, {}, 'port', /GATEWAY_EGRESS_PORTS \(443, 8443\)/],
    ['a range that is none', { cidr: '10.0.0.1/64' }, {}, 'cidr', /address\/bits/],
    ['a range wider than the bound', { cidr: '10.0.0.0/7' }, {}, 'cidr', /not within/],
    ['a range of another family', { cidr: '::/0' }, {}, 'cidr', /./],
    ['a range outside of the bound', { cidr: '192.168.0.0/16' }, {}, 'cidr', /not within/],
    ['any range where none is allowed', {}, { bounds: [] }, 'cidr', /set GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS/],
    ['link-local', { cidr: '169.254.169.254/32' }, { bounds: ['0.0.0.0/0'] }, 'cidr', /link_local/],
    ['addresses that embed others', { cidr: '::ffff:0:0/96' }, { bounds: ['::/0'] }, 'cidr', /embeds_ipv4/],
  ])('is refused with what to do: %s', (_what, changes, others, member, words) => {
    expect(() => grant(changes, others)).toThrow(
      expect.objectContaining({
        code: 'input_invalid',
        message: expect.stringMatching(words),
        extras: {
          fields: [expect.objectContaining({ pointer: `/settings/unsafe_private_targets/0/${member}` })],
        },
      }),
    )
  })

  it('is for an administrator', () => {
    expect(() => grant({}, { isAdministrator: false })).toThrow(
      expect.objectContaining({ code: 'admin_required' }),
    )
    expect(() => checkPrivateTargets(undefined, { ...rules, isAdministrator: false })).not.toThrow()
  })
})

it('no other code of the gateway makes a policy that opens a range', () => {
  const openers = globSync('{src,tools}/**/*.ts').filter((file) =>
    /createAddressPolicy\((?!\[\]|opened: )/.test(readFileSync(file, 'utf8')),
  )
  // The sample site of the sandbox has a sender of its own, which is given one address; and an administrator names the identity provider
  // that people sign in through, which may be in a range that the operator opened, and that nothing else is asked through.
  expect(openers.sort()).toEqual([
    'src/app/platform.ts',
    'src/app/services.ts',
    'src/egress/reach/private-targets.ts',
  ])
})
