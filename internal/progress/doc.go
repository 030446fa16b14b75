// Package progress shows how a cluster comes to be: what each object's conditions say, and since when.
//
// Follow watches the objects; Changes and Rollout say what is new and what is still missing; Tree and Line put it into
// words. All but Follow are pure.
package progress
