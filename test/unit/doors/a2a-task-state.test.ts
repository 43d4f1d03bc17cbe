import { describe, expect, it } from 'vitest'
import {
  finalState,
  isAtRest,
  isAway,
  isTerminal,
  nextPhase,
  phaseAway,
  type TaskEvent,
  type TaskPhase,
} from '../../../src/doors/a2a/task-state.ts'

const EVENTS = [
  'report',
  'reserve',
  'cancel',
  'close',
  'finish',
  'overdue',
  'follow_up',
  'abandon',
  'decide',
] as const satisfies readonly TaskEvent[]

/** Every phase with every event, in the order of EVENTS; `-` is a refusal. */
const TABLE: Readonly<Record<TaskPhase, string>> = {
  working: 'working paying canceling canceling ending - - - -',
  paying: 'paying paying - stopping ending - - - -',
  canceling: 'canceling - canceling canceling ending ending - - -',
  stopping: 'stopping - - stopping ending - - - -',
  ending: '- - ending ending - - - - -',
  remote: '- - ended - - - - ended -',
  waiting: '- - ended - - - working - -',
  pending: '- - - - - - - - ended',
  ended: '- - - - - - - - -',
}
const PHASES = Object.keys(TABLE) as TaskPhase[]
const AWAY = ['remote', 'waiting', 'pending', 'ended']

const reachableFrom = (start: TaskPhase) => {
  const reached = new Set([start])
  for (const phase of reached)
    for (const event of EVENTS) {
      const next = nextPhase(phase, event)
      if (next) reached.add(next)
      // Its last state is written: that may be any in which no work is behind it.
      if (next === 'ending') for (const away of AWAY) reached.add(away as TaskPhase)
    }
  return reached
}

describe('the phases of a task', () => {
  it.each(PHASES)('takes in phase %s the events of the table, and no others', (phase) => {
    expect(EVENTS.map((event) => nextPhase(phase, event) ?? '-').join(' ')).toBe(TABLE[phase])
  })

  it('lead to an end from everywhere, and back from it to nowhere', () => {
    for (const phase of PHASES) expect(reachableFrom(phase), phase).toContain('ended')
    expect([...reachableFrom('ended')]).toEqual(['ended'])
    expect([...reachableFrom('working')].toSorted()).toEqual(PHASES.toSorted())
  })

  it('never let a cancel over money that may move', () => {
    for (const phase of ['paying', 'stopping', 'pending'] as const)
      expect(nextPhase(phase, 'cancel'), phase).toBeUndefined()
    for (const phase of ['canceling', 'stopping', 'ending'] as const)
      expect(nextPhase(phase, 'reserve'), phase).toBeUndefined()
  })

  it('write a last state once', () => {
    expect(nextPhase('ending', 'finish')).toBeUndefined()
    expect(nextPhase('ending', 'overdue')).toBeUndefined()
  })

  it('are four without work of this process', () => {
    expect(PHASES.filter(isAway)).toEqual(AWAY)
  })
})

describe('the states of the wire', () => {
  it.each([
    ['TASK_STATE_SUBMITTED', 'remote', 'pending'],
    ['TASK_STATE_WORKING', 'remote', 'pending'],
    ['TASK_STATE_INPUT_REQUIRED', 'waiting', 'waiting'],
    ['TASK_STATE_AUTH_REQUIRED', 'waiting', 'waiting'],
    ['TASK_STATE_COMPLETED', 'ended', 'ended'],
    ['TASK_STATE_FAILED', 'ended', 'ended'],
    ['TASK_STATE_CANCELED', 'ended', 'ended'],
    ['TASK_STATE_REJECTED', 'ended', 'ended'],
  ])('stored as %s is %s, and %s where a settlement is not known', (state, phase, pendingPhase) => {
    expect(phaseAway(state, false)).toBe(phase)
    expect(phaseAway(state, true)).toBe(pendingPhase)
    expect(isTerminal(state)).toBe(phase === 'ended')
    expect(isAtRest(state)).toBe(phase !== 'remote')
  })

  it.each(['canceling', 'stopping'] as const)('after %s say what happened all the same', (phase) => {
    expect(finalState(phase, 'TASK_STATE_COMPLETED', false)).toBe('TASK_STATE_COMPLETED')
    expect(finalState(phase, 'TASK_STATE_WORKING', true)).toBe('TASK_STATE_WORKING')
    for (const state of ['TASK_STATE_FAILED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_REJECTED'] as const)
      expect(finalState(phase, state, false)).toBe('TASK_STATE_CANCELED')
  })

  it.each(['working', 'paying', 'ending'] as const)('are those of the work in phase %s', (phase) => {
    expect(finalState(phase, 'TASK_STATE_FAILED', false)).toBe('TASK_STATE_FAILED')
  })
})
