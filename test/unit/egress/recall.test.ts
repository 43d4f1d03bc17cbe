// A name that is remembered saves a commit: only where each of its addresses may be dialled.
import { expect, it } from 'vitest'
import type { AddressPolicy } from '../../../src/egress/address.ts'
import type { PreparedRequest } from '../../../src/egress/request.ts'
import { createRunner, type RunnerParts } from '../../../src/egress/run.ts'
import { SANDBOX_HOST } from '../../../src/egress/target.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { cites } from '../../requirements.ts'

const PUBLIC = '93.184.216.34'
const PRIVATE = '10.0.0.1'

const addresses: Pick<AddressPolicy, 'classify'> = {
  classify: (address) => (address === PUBLIC ? { ok: true } : { ok: false, reason: 'private' }),
}

function recall(
  remembered: readonly string[] | undefined,
  host = 'api.example.com',
  allowSandboxName = false,
) {
  const parts = {
    addresses,
    resolver: { recall: () => remembered },
    allowSandboxName,
    fault: noFault,
  } as unknown as RunnerParts
  return createRunner(parts).recall({ target: { host } } as PreparedRequest)
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

it.each([[undefined], [[]]])('recalls nothing where nothing is remembered: %j', async (remembered) => {
  expect(await recall(remembered)).toBeUndefined()
})

it('knows the sample site in a sandbox only', async () => {
  expect(await recall(undefined, SANDBOX_HOST, true)).toEqual(['127.0.0.1'])
  expect(await recall(undefined, SANDBOX_HOST, false)).toBeUndefined()
})
