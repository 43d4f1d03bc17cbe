import { describe, expect, it } from 'vitest'
import { type Answer, cacheAnswers } from '../../../src/egress/adapters/dns-cache.ts'

function world(ttlSeconds: number) {
  const questions: string[] = []
  let time = 0
  let address = '93.184.216.34'
  const ask = async (host: string): Promise<Answer> => {
    questions.push(host)
    if (address === '') throw new Error('no answer')
    return { addresses: [address], ttlSeconds }
  }
  const cache = cacheAnswers(ask, () => time)
  return {
    questions,
    resolve: cache.ask,
    recall: cache.recall,
    wait: (ms: number) => (time += ms),
    move: (to: string) => (address = to),
  }
}

describe('a remembered answer', () => {
  it('serves until its TTL is over, and not a moment longer', async () => {
    const { resolve, wait, move, questions } = world(10)
    await resolve('a.example')
    move('198.41.0.4')
    wait(9_999)
    expect(await resolve('a.example')).toEqual(['93.184.216.34'])
    wait(1)
    expect(await resolve('a.example')).toEqual(['198.41.0.4'])
    expect(questions).toHaveLength(2)
  })

  it('is recalled without a question, and not when there would be one', async () => {
    const { resolve, recall, wait, questions } = world(10)
    expect(recall('a.example')).toBeUndefined()
    await resolve('a.example')
    expect(recall('a.example')).toEqual(['93.184.216.34'])
    wait(10_000)
    expect(recall('a.example')).toBeUndefined()
    expect(questions).toHaveLength(1)
  })

  it('is forgotten after 30 seconds, whatever its TTL says', async () => {
    const { resolve, wait, questions } = world(86_400)
    await resolve('a.example')
    wait(29_999)
    await resolve('a.example')
    expect(questions).toHaveLength(1)
    wait(1)
    await resolve('a.example')
    expect(questions).toHaveLength(2)
  })

  it('is not kept at all with a TTL of 0', async () => {
    const { resolve, questions } = world(0)
    await resolve('a.example')
    await resolve('a.example')
    expect(questions).toHaveLength(2)
  })

  it('belongs to its name', async () => {
    const { resolve, move } = world(10)
    await resolve('a.example')
    move('198.41.0.4')
    expect(await resolve('b.example')).toEqual(['198.41.0.4'])
    expect(await resolve('a.example')).toEqual(['93.184.216.34'])
  })
})

it('attempts that ask at the same time share one question', async () => {
  const { resolve, questions } = world(0)
  const answers = await Promise.all([resolve('a.example'), resolve('a.example'), resolve('a.example')])
  expect(answers).toEqual([['93.184.216.34'], ['93.184.216.34'], ['93.184.216.34']])
  expect(questions).toHaveLength(1)
})

it('a failure is told to those who asked and remembered for nobody', async () => {
  const { resolve, move, questions } = world(10)
  move('')
  const failures = await Promise.allSettled([resolve('a.example'), resolve('a.example')])
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  move('198.41.0.4')
  expect(await resolve('a.example')).toEqual(['198.41.0.4'])
  expect(questions).toHaveLength(2)
})

it('remembers a thousand names and forgets the oldest answer first', async () => {
  const { resolve, questions } = world(30)
  for (let i = 0; i <= 1000; i++) await resolve(`n${i}.example`)
  await resolve('n1.example')
  expect(questions).toHaveLength(1001)
  await resolve('n0.example')
  expect(questions).toHaveLength(1002)
})
