// A command whose first argument is an account says so, so that one account does not take every connection of a pool.
import { expect, it } from 'vitest'
import { commandNames, commands, traitsOf } from '../../../src/store/commands/index.ts'

/** The name of its first parameter, as it is written. */
const firstParameter = (name: (typeof commandNames)[number]) =>
  /^function\s*\*?\s*\w*\(\s*(\w+)/.exec(commands[name].toString())?.[1]

it('is said by each command that takes the id of an account first, and by no other', () => {
  const taking = commandNames.filter((name) => firstParameter(name) === 'accountId')
  expect(taking.length).toBeGreaterThan(10)
  expect(commandNames.filter((name) => traitsOf(name).namesAccount)).toEqual(taking)
})
