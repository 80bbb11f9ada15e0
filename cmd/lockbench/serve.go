package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/serve"
	"github.com/lockbench/lockbench/internal/report"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
)

// goodbye is how long requests that are under way may take after Ctrl-C.
const goodbye = 5 * time.Second

func newServe() *cobra.Command {
	var store, addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Browse the runs that are kept, in a browser",
		Long: `Serve shows a store of runs at an address of this machine, until Ctrl-C: the list of runs with filters, the report and
the files of each, two of them compared, and the newest run of each lock under each scenario. It only reads, and works
without JavaScript. ?format=json gives lists, comparisons and the matrix as JSON.

There is no authentication. Only this machine can connect, unless --addr names another address than a loopback one.`,
		Example: `  lockbench serve
  lockbench serve --store store --addr 127.0.0.1:0
  curl 'http://127.0.0.1:8080/?verdict=fail&lock=redlock&format=json'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if host, port, err := net.SplitHostPort(addr); err != nil || host == "" && port == "" {
				return usage(fmt.Errorf("--addr is %q, want host:port such as 127.0.0.1:8080; with port 0 a free one is chosen", addr))
			}
			return serveStore(cmd.Context(), store, addr, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&store, "store", usualStore(os.Getenv), "directory that runs are kept in (lockbench run --out)")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "address to listen on; with port 0 a free one is chosen")
	return cmd
}

// serveStore serves until ctx ends, which is no failure.
func serveStore(ctx context.Context, store, addr string, stdout, stderr io.Writer) error {
	// It listens first, for only the listener knows whether a name is one of this machine alone.
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return failure(fmt.Errorf("cannot listen on %s: %w; choose another with --addr, 127.0.0.1:0 for any free port", addr, innermost(err)))
	}
	defer func() { _ = l.Close() }() // the server has closed it, unless it did not begin
	loopback := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	handler, err := serve.New(serve.Options{Store: store, Draw: drawStored, Now: time.Now, Loopback: loopback})
	if err != nil {
		return usage(fmt.Errorf("%w (--store)", err))
	}
	if !loopback {
		fmt.Fprintf(stderr, "lockbench: warning: %s is no loopback address; there is no authentication, and everybody who reaches it reads all runs\n", l.Addr())
	}
	if _, err := fmt.Fprintf(stdout, "Serving %s at http://%s/ until Ctrl-C.\n", store, l.Addr()); err != nil {
		return failure(err)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      60 * time.Second, // the handler gives files more
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(stderr, "lockbench: serve: ", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return failure(err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return errors.Join(server.Close()) // what still goes on is cut off
	}
	return nil
}

// innermost is what went wrong, without the addresses that the message tells already.
func innermost(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// drawStored draws a run whose page is not kept.
func drawStored(w io.Writer, r report.Run) error {
	return html.Write(w, r, html.Options{Plots: plot.Draw, Store: "/"})
}
