// The people that agents talk to: everything that is kept of one is erased. Nobody is looked up by this: a person who is
// not known, or another workspace's, has nothing to erase.
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Erased } from "../Erasure.ts"
import { Conflict } from "../Errors.ts"
import { textBetween } from "../Field.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

/** Endpoints of end users. 409: a session of theirs is live, and nothing was erased. */
export class EndUsersApi extends HttpApiGroup.make("endUsers")
  .add(
    HttpApiEndpoint.delete("eraseEndUser", "/:end_user_id", {
      params: { end_user_id: textBetween(1, 256) },
      success: Erased,
      error: Conflict
    }),
    HttpApiEndpoint.delete("eraseCaller", "/", {
      query: {
        /** The other side of telephone calls. */
        caller_number: textBetween(1, 64)
      },
      success: Erased,
      error: Conflict
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/end-users")
  .annotateMerge(OpenApi.annotations({ title: "End users" })) {}
