// A name that is remembered saves a commit: only where each of its addresses may be dialled.
import { expect, it } from 'vitest'
import type { AddressPolicy } from '../../../src/egress/address.ts'
import { createReach } from '../../../src/egress/reach/private-targets.ts'
import type { PreparedRequest } from '../../../src/egress/request.ts'
import { createRunner, type RunnerParts } from '../../../src/egress/run.ts'
import { SANDBOX_HOST } from '../../../src/egress/target.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import type { SealedCredential } from '../../../src/store/ports.ts'
import { cites } from '../../requirements.ts'

const PUBLIC = '93.184.216.34'
const PRIVATE = '10.0.0.1'

const publicOnly: AddressPolicy = {
  classify: (address) => (address === PUBLIC ? { ok: true } : { ok: false, reason: 'private' }),
}

function recall(
  remembered: readonly string[] | undefined,
  host = 'api.example.com',
  allowSandboxName = false,
  credential?: SealedCredential,
) {
  const parts = {
    reach: createReach(publicOnly, ['10.0.0.0/8']),
    resolver: { recall: () => remembered },
    allowSandboxName,
    attempts: {},
    fault: noFault,
  } as unknown as RunnerParts
  return createRunner(parts).recall({ target: { host, port: 443 } } as PreparedRequest, credential)
}

it('recalls a name whose addresses are all public', async () => {
  expect(await recall([PUBLIC])).toEqual([PUBLIC])
  expect(await recall([PUBLIC, PUBLIC])).toEqual([PUBLIC, PUBLIC])
})

it.each([[[PRIVATE]], [[PUBLIC, PRIVATE]], [[PRIVATE, PUBLIC]], [[PUBLIC, PUBLIC, PRIVATE]]])(
  cites('egress:dns:recalled', 'recalls nothing where one address of the answer is not public: %j'),
  async (remembered) => {
    expect(await recall(remembered)).toBeUndefined()
  },
)

it('recalls a private address for the credential that it was granted to', async () => {
  const targets = [{ host: 'api.example.com', port: 443, cidr: '10.0.0.0/24' }]
  const credential = { settings: { unsafe_private_targets: targets } } as SealedCredential
  expect(await recall([PRIVATE], 'api.example.com', false, credential)).toEqual([PRIVATE])
  expect(await recall([PRIVATE], 'other.example.com', false, credential)).toBeUndefined()
})

it.each([[undefined], [[]]])('recalls nothing where nothing is remembered: %j', async (remembered) => {
  expect(await recall(remembered)).toBeUndefined()
})

it('knows the sample site in a sandbox only', async () => {
  expect(await recall(undefined, SANDBOX_HOST, true)).toEqual(['127.0.0.1'])
  expect(await recall(undefined, SANDBOX_HOST, false)).toBeUndefined()
})
