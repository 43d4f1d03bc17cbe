// One question that is asked of every message, also where nothing else of retry safety applies.
import { all, type Check, none } from './model.ts'

export const targetCheck = <F>(id: string, max: number): Check<F> => ({
  id,
  max,
  asks: 'The target is https.',
  remediation: 'Send payments over https only.',
  spec: null,
  judge: ({ message }) =>
    message.target.url?.protocol === 'https:' || message.target.url?.protocol === 'wss:'
      ? all('/target')
      : none('The target is not an https address.', '/target'),
})
