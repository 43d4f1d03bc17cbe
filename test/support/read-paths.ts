import { tools } from '../../tools/index.ts'

/** Every path that is read without naming one thing: lists, balances, documents. */
export const READ_PATHS: readonly string[] = tools
  .flatMap(({ rest }) => rest)
  .filter(({ method, path }) => method === 'GET' && !path.includes('{'))
  .map(({ path }) => path)
