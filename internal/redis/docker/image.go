package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/client"

	recipe "github.com/lockbench/lockbench/docker/redis"
)

// Image is the image of every node. It is made from docker/redis/Dockerfile.
const Image = "lockbench/redis:7"

// buildLimit bounds the build of the image, which loads packages.
const buildLimit = 5 * time.Minute

// EnsureImage builds the image if it is missing, and says so on w; nil: nobody. It
// never pulls a newer base. Where it cannot be built the error is a *MissingError.
func EnsureImage(ctx context.Context, w io.Writer) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(e.ensureImage(ctx, &lineLog{w: w}), e.close())
}

// ensure sees to it that an image is there: lockbench's own is built, and one of the user's is pulled.
func (e *engine) ensure(ctx context.Context, image string, log *lineLog) error {
	if image == "" || image == Image {
		return e.ensureImage(ctx, log)
	}
	err := call(ctx, "look for the image", func(ctx context.Context) error {
		_, err := e.cli.ImageInspect(ctx, image)
		return err
	})
	if !errdefs.IsNotFound(err) {
		return err
	}
	log.printf("pulling the image %s, this once", image)
	pulling, cancel := context.WithTimeoutCause(ctx, buildLimit, fmt.Errorf("gave up after %v", buildLimit))
	defer cancel()
	if err := e.pull(pulling, image); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &MissingError{Want: "the image " + image, Found: fmt.Sprintf("none, and pulling it failed: %v", withCause(pulling, err)),
			Run: "Run: docker images, for the names of those that are there."}
	}
	return nil
}

func (e *engine) pull(ctx context.Context, image string) error {
	told, err := e.cli.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = told.Close() }() // what counts has been read
	return told.Wait(ctx)
}

func (e *engine) ensureImage(ctx context.Context, log *lineLog) error {
	err := call(ctx, "look for the image", func(ctx context.Context) error {
		_, err := e.cli.ImageInspect(ctx, Image)
		return err
	})
	if !errdefs.IsNotFound(err) {
		return err
	}
	log.printf("building the image %s, this once; it takes up to a minute", Image)
	building, cancel := context.WithTimeoutCause(ctx, buildLimit, fmt.Errorf("gave up after %v", buildLimit))
	defer cancel()
	if err := e.build(building); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &MissingError{Want: "the image " + Image, Found: fmt.Sprintf("none, and building it failed: %v", withCause(building, err)),
			Run: "Run: lockbench image; it can do without a registry."}
	}
	return nil
}

// build asks the engine's old builder, which takes a base that is only here.
func (e *engine) build(ctx context.Context) error {
	var files bytes.Buffer
	tw := tar.NewWriter(&files)
	if err := tw.AddFS(recipe.Files()); err != nil {
		return err
	}
	if err := tw.Close(); err != nil {
		return err
	}
	result, err := e.cli.ImageBuild(ctx, &files, client.ImageBuildOptions{
		Tags:        []string{Image},
		Dockerfile:  "Dockerfile",
		Remove:      true,
		ForceRemove: true,
		Version:     build.BuilderV1,
	})
	if err != nil {
		return err
	}
	defer func() { _ = result.Body.Close() }() // what counts has been read
	return buildError(result.Body)
}

// buildError reads what the builder tells, one JSON object after the other, and
// returns the failure that it reports, with what came before.
func buildError(r io.Reader) error {
	var last string
	for decoder := json.NewDecoder(r); ; {
		var line struct{ Stream, Error string }
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if line.Error != "" {
			return fmt.Errorf("%s (after %q)", strings.TrimSpace(line.Error), last)
		}
		if text := strings.TrimSpace(line.Stream); text != "" {
			last = text
		}
	}
}
