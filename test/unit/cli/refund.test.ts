import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Exit } from '../../../src/cli/exit.ts'
import { printRefund } from '../../../src/cli/refund.ts'

const written = { stdout: '', stderr: '' }
beforeEach(() => {
  for (const name of ['stdout', 'stderr'] as const) {
    written[name] = ''
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text)
      return true
    })
  }
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

it('tells a refund that failed as a failure, with what to do', () => {
  for (const json of [false, true]) {
    process.exitCode = undefined
    printRefund({ state: 'failed', failure: 'out_of_gas' }, { json })
    expect(process.exitCode).toBe(Exit.failed)
    expect(written.stderr).toMatch(/nothing was sent \(out_of_gas\).*another --reference\.\n$/)
  }
})

it('says nothing more of one that is on its way or settled', () => {
  for (const state of ['recorded', 'submitted', 'settled']) printRefund({ state, failure: null }, {})
  expect(written.stderr).toBe('')
  expect(process.exitCode).toBeUndefined()
})
