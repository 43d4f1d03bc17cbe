import { describe, expect, it } from 'vitest'
import { CONFIGURATION_NAMES } from '../../../src/app/variables.ts'
import { describeUnknownVariables } from '../../../src/app/unknown-variables.ts'

const sentence = (name: string, advice: string) =>
  `${name} is no variable of the gateway and is not read. ${advice}`

describe('unknown variables', () => {
  it.each([
    ['GATEWAY_BASEURL', 'GATEWAY_BASE_URL'],
    ['GATEWAY_DATA_DRI', 'GATEWAY_DATA_DIR'],
    ['GATEWAY_FACILITATOR', 'GATEWAY_FACILITATORS'],
    ['GATEWAY_SETTLER_KEY', 'GATEWAY_SETTLER_KEY_FILE'],
    ['GATEWAY_UNSAFE_ALOW_PRIVATE_CIDR', 'GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS'],
    ['GATEWAY_PORT', 'PORT'],
    ['GATEWAY_HOST', 'HOST'],
  ])('names for %s the nearest that is read, %s', (name, nearest) => {
    expect(describeUnknownVariables({ [name]: 'x' })).toEqual([sentence(name, `Did you mean ${nearest}?`)])
  })

  it('sends whoever is far from every name to the list', () => {
    expect(describeUnknownVariables({ GATEWAY_WEATHER_STATION: 'x' })).toEqual([
      sentence('GATEWAY_WEATHER_STATION', 'docs/configuration.md lists those that are.'),
    ])
  })

  it('says nothing of what is read, of chains, of empty ones and of other programs', () => {
    const read = Object.fromEntries(CONFIGURATION_NAMES.map((name) => [name, 'x']))
    const others = { GATEWAY_RPC_8453: 'x', GATEWAY_RPC_x: 'x', GATEWAY_LOGLEVEL: '', POST: 'x', PATH: 'x' }
    expect(CONFIGURATION_NAMES).toContain('GATEWAY_MODE')
    expect(describeUnknownVariables({ ...read, ...others })).toEqual([])
  })

  it('names each in the order of the alphabet, and no value', () => {
    const told = describeUnknownVariables({ GATEWAY_PAYTO: 'agw_sk_1', GATEWAY_MOD: 'agw_sk_2' })
    expect(told.map((text) => text.split(' ')[0])).toEqual(['GATEWAY_MOD', 'GATEWAY_PAYTO'])
    expect(told.join()).not.toContain('agw_sk_')
  })
})
