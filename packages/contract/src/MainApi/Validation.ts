// Turns what the framework says of a request that does not fit its schema into our two answers: 400 for a body that is
// no JSON, 404 for a path that cannot be an id, 422 with the fields for everything else.
import { HttpApiMiddleware } from "effect/http-api"
import { BadRequest, Invalid, NotFound } from "../Errors.ts"

/** Middleware of every endpoint. */
export class Validation extends HttpApiMiddleware.Service<Validation>()("@parley/contract/Validation", {
  error: [BadRequest, NotFound, Invalid]
}) {}
