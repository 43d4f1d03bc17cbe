import { describe, expect, it } from 'vitest'
import { createRunRecord, describeRun, type RunAttempt } from '../../../../src/cli/run/summary.ts'
import { findProgram, judgeTrial, KNOWN_PROGRAMS } from '../../../../src/cli/run/programs.ts'
import { refuseSecretArguments } from '../../../../src/cli/secrets.ts'

const attempt = (host: string, receipt: string | null = 'rcpt_1') => ({
  attempt_id: 'att_1',
  host,
  state: receipt === null ? 'refunded' : 'settled',
  credits_charged: receipt === null ? 0 : 1,
  receipt_id: receipt,
})

const whole = (attempts: readonly RunAttempt[]) => ({ attempts, isWhole: true })

describe('the summary of a run', () => {
  it('adds up attempts by host, connections by way, and refusals by reason', () => {
    const { watch, summarise } = createRunRecord()
    const passage = { agentId: 'run', port: 443, requests: 0, bytesUp: 10, bytesDown: 100 }
    watch.passed({ ...passage, host: 'b.example.com', way: 'tunnel' })
    watch.passed({ ...passage, host: 'b.example.com', way: 'tunnel' })
    watch.passed({ ...passage, host: 'a.example.com', way: 'credential' })
    const refusal = { agentId: 'run', host: 'c.example.com:443', code: 'scope_denied', reason: 'x' }
    watch.refused({ ...refusal, detail: 'Not allowed.' })
    watch.refused({ ...refusal, detail: 'Not allowed.' })
    watch.refused({ ...refusal, code: 'proxy_identity_required', detail: 'Who are you?' })
    const summary = summarise(3, whole([attempt('a.example.com'), attempt('a.example.com', null)]))
    expect(describeRun(summary)).toMatchInlineSnapshot(`
      "agent-gateway run: ended with 3
        a.example.com  2 attempts, 1 credit, 1 receipt
        b.example.com  not opened, 220 bytes, 2 connections
        c.example.com:443  refused 2 times: Not allowed.
      "
    `)
  })

  it('says so where nothing was called, and shows no control characters of strangers', () => {
    const { watch, summarise } = createRunRecord()
    expect(describeRun(summarise(0, whole([])))).toContain('nothing was called through the gateway')
    watch.refused({
      agentId: 'run',
      host: 'x\u001b[31m',
      code: 'target_invalid',
      reason: undefined,
      detail: 'No.',
    })
    expect(describeRun(summarise(0, whole([])))).not.toContain('\u001b')
  })
})

describe('the summary of a run whose attempts could not all be read', () => {
  it.each([[[]], [[attempt('a.example.com')]]])('says so, and never that nothing was called', (attempts) => {
    const { summarise } = createRunRecord()
    const summary = summarise(0, { attempts, isWhole: false })
    expect(summary).toMatchObject({ attempts, attempts_incomplete: true })
    expect(describeRun(summary)).toContain(
      '  not all attempts could be read from the gateway, which has them',
    )
    expect(describeRun(summary)).not.toContain('nothing was called')
    expect(summarise(0, whole(attempts))).not.toHaveProperty('attempts_incomplete')
  })
})

describe('the summary of a run that calls without end', () => {
  const refusal = { agentId: 'run', code: 'scope_denied', reason: 'unknown_host' }
  const passage = { agentId: 'run', port: 443, requests: 0, bytesUp: 1, bytesDown: 2 }

  it('names ten thousand hosts of each kind, and counts the others', () => {
    const { watch, summarise } = createRunRecord()
    for (let i = 0; i < 10_002; i++) {
      watch.refused({ ...refusal, host: `${i}.example.com:443`, detail: `No ${i}.` })
      watch.passed({ ...passage, host: `${i}.example.org`, way: 'tunnel' })
    }
    // One that is named goes on to be counted.
    watch.refused({ ...refusal, host: '9999.example.com:443', detail: 'No 9999.' })
    watch.passed({ ...passage, host: '9999.example.org', way: 'tunnel' })
    watch.passed({ ...passage, host: '10003.example.org', way: 'credential' })
    const summary = summarise(0, whole([]))
    expect([summary.refused.length, summary.passed.length]).toEqual([10_000, 10_000])
    expect(summary.refused.at(-1)).toEqual({
      host: '9999.example.com:443',
      code: 'scope_denied',
      detail: 'No 9999.',
      times: 2,
    })
    expect(summary.passed.at(-1)).toEqual({
      host: '9999.example.org',
      way: 'tunnel',
      connections: 2,
      bytes: 6,
    })
    expect(summary.others).toEqual({ passed: 2, refused: 2 })
    expect(describeRun(summary)).toContain(
      '  further hosts  2 connections refused, 2 connections without a credential\n',
    )
  })

  it('says nothing of others where each is named', () => {
    const { watch, summarise } = createRunRecord()
    for (let i = 0; i < 10_000; i++) watch.refused({ ...refusal, host: `${i}.example.com`, detail: 'No.' })
    expect(summarise(0, whole([]))).not.toHaveProperty('others')
  })
})

describe('known programs', () => {
  it.each([
    ['/usr/bin/python3.11', 'python'],
    ['curl', 'curl'],
    ['C:\\node\\node.exe', 'node'],
    ['pip3', 'pip'],
  ])('%s is found by the name of its file', (path, name) => {
    expect(findProgram(path)?.name.source).toContain(name)
  })

  it.each(['curly', 'nodemon', 'pythonista', 'mygit'])('%s is another program', (path) => {
    expect(findProgram(path)).toBeUndefined()
  })

  it('are tried or have a note', () => {
    for (const { call, note } of KNOWN_PROGRAMS) expect(call ?? note).toBeDefined()
  })

  it.each([
    [{ usedProxy: true, trusted: true }, ['ok']],
    [{ usedProxy: true, trusted: false }, ['ok', 'fail']],
    [{ usedProxy: false, trusted: false }, ['fail']],
    [undefined, ['warn']],
  ])('are judged by what they did: %j', (trial, levels) => {
    expect(judgeTrial('x', undefined, trial).map(({ level }) => level)).toEqual(levels)
  })
})

describe('arguments of another program', () => {
  it('are its own, but for a token of the gateway', () => {
    const token = `agw_cap_${'0'.repeat(40)}`
    expect(() => refuseSecretArguments(['run', '--', 'x', '--token', 'abc'])).not.toThrow()
    expect(() => refuseSecretArguments(['run', '--token', 'abc', '--', 'x'])).toThrow(
      'may not be an argument',
    )
    expect(() => refuseSecretArguments(['run', '--', 'x', token])).toThrow('may not be an argument')
  })
})
